"""The chat-completions API, as OpenAI defined it and many servers speak it. Quirks are data (`compat`)."""
