"""Model services behind one port. `base` is the port; each API has a folder; `scripted` and `offline` are real models."""
