"""Two rules of the checker, written again from FORMAT.md alone by somebody who had not read the checker.

Nothing here imports attemper: `tests/checker/test_second_reader.py` compares both readings, as black boxes.
Three things are no reading of the text but what the comparison taught: only i and n have negative powers, all
places of a program count, read or not, and a place is made of numbers, sign and tests of i. Where the text
says more than the checker does (several rows with t(j), what follows from unknown bits), the text is kept.
"""
