"""Model services behind one port. `base` is the port, each API a folder; `scripted` and `offline` are models too."""
