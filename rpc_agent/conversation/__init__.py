"""The words everybody shares: content blocks, messages, usage, tool declarations, models. Pure values."""
