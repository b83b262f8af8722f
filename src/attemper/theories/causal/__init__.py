"""Causal variables: which coordinates of a network hold a step of its program, and change what it puts out as
that step does.
"""
