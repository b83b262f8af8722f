"""What is right, from definitions or FORMAT.md alone: nothing here imports attemper (a contract)."""
