"""The zoo as pages: for each entry one in which its network runs, and an index of all."""
