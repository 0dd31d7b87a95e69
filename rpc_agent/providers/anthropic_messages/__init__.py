"""The messages API, as Anthropic defined it and some other services speak it. Quirks are data (`compat`)."""
