"""Session files on disk: writing them so that nothing is lost, reading only what is needed. Knows no conversation."""
