"""What the model sees of a session: projection, tokens, system prompt, conversion for providers. Pure."""
