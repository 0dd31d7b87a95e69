"""Generic JSON-RPC 2.0 over any transport, in both directions. Has never heard of agents.

Nothing is imported here: the path to the first answer loads only the modules it names.
"""
