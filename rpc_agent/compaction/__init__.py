"""When to compact, where to cut, what to ask, what to record. Pure but for one injected model call."""
