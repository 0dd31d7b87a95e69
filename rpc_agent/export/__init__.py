"""A session as a document for people (HTML, Markdown) or programs (JSONL). Pure: plain values in, text or bytes out."""
