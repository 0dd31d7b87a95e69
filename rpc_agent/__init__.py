"""rpc-agent: a coding agent that other programs embed over JSON-RPC."""

# A literal, because reading package metadata costs 30 ms of the time to the first answer.
__version__ = "0.1.0"
