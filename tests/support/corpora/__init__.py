"""What is kept and shown in full: saved certificates, the languages of the zoo and of the literature."""
