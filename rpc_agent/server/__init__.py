"""The only package that knows both the protocol and the engine: handlers, notifications, error codes."""
