"""What is tried: formulas, programs, networks and words, drawn from a seed or put together by hand."""
