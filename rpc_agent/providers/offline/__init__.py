"""The built-in model that needs no key and no network: a small deterministic agent that never poses as more."""
