"""What every run of the tests is made of: which cases are taken, how they are collected, what they cost."""
