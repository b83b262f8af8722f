"""What must be refused, or noticed: files, programs and networks in which something was changed."""
