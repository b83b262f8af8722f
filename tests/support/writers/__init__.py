"""Commands that write or print: campaigns, comparisons, counts, the gallery, the list of these files."""
