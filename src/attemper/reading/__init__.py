"""From a network to the language that it computes."""
