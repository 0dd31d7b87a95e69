"""The responses API, as OpenAI defined it and a few servers speak it. Quirks are data (`compat`)."""
