"""Commands that write or print: comparisons, counts, the gallery, the list of these files."""
