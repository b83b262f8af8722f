"""The papers, statement by statement: each a row of data with a run that can fail.

`statements` says what a row is. Rows stand in the rooms that show them, in files that `registry.py` names.
"""
