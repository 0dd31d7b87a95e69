"""One module per resource; a handler calls the engine and converts the answer. No decisions about sessions here."""
