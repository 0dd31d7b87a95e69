"""The session as values: entries, the tree they form, reading lines into it. Pure; `storage` does the files."""
