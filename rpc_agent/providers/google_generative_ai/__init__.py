"""Google's generateContent API, as the Gemini service speaks it. Quirks are data (`compat`)."""
