"""How far a softened network is from its hard network: what is claimed is derived from the weights again."""
