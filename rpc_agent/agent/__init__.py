"""The agent loop: a model is asked, its tools run, until it asks for none. Knows no session, file or wire."""
