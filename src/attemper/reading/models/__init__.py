"""Masked hard-attention models read back as automata: measured, their functions are believed."""
