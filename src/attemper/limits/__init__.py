"""Searches for what limits soft attention; nothing here is trusted."""
