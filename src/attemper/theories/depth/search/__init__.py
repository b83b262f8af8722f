"""How many layers of unique hard attention a language needs: two words that k layers do not tell apart."""
