"""`attemper play`: a page to type languages into, served on this computer, a process for each answer."""
