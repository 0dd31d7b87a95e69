"""The offline model as the catalog lists it, without what it takes to run it."""

from rpc_agent.conversation.models import Model

OFFLINE_MODEL = Model(
    id="offline",
    provider="offline",
    api="offline",
    name="rpc-agent offline (not a language model)",
    # Small enough that a person can see a threshold being reached.
    context_window=32_768,
    max_tokens=4_096,
)
