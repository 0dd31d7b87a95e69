"""Hooks: what extensions and clients may decide, how they are asked, and what an answer may be. Knows no session."""
