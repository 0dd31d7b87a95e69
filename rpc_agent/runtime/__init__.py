"""Live sessions: the engine's parts put to work on one file, one model and one working directory."""
