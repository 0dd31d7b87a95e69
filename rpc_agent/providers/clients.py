"""What speaks each API. Makes no model and opens no connection.

Each module is imported when a model of its API is first chosen: together they are a tenth of what stands between the
start of the server and its first session.
"""

from rpc_agent.providers.streaming import StreamingModel

SERVICE_APIS = ("anthropic-messages", "google-generative-ai", "openai-completions", "openai-responses")


def client_of(api: str) -> type[StreamingModel]:
    """The class whose instances speak one of SERVICE_APIS."""
    # PLC0415: see above.
    match api:
        case "anthropic-messages":
            from rpc_agent.providers.anthropic_messages.client import AnthropicMessages  # noqa: PLC0415

            return AnthropicMessages
        case "google-generative-ai":
            from rpc_agent.providers.google_generative_ai.client import GoogleGenerativeAI  # noqa: PLC0415

            return GoogleGenerativeAI
        case "openai-completions":
            from rpc_agent.providers.openai_completions.client import OpenAICompletions  # noqa: PLC0415

            return OpenAICompletions
        case "openai-responses":
            from rpc_agent.providers.openai_responses.client import OpenAIResponses  # noqa: PLC0415

            return OpenAIResponses
        case _:
            raise ValueError(f"nothing speaks {api!r}")
