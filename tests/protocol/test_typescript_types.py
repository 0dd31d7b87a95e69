"""The TypeScript text: a few pieces whole, and the maps complete."""

from rpc_agent.protocol.client_requests import CLIENT_REQUESTS
from rpc_agent.protocol.error_codes import ERRORS
from rpc_agent.protocol.json_schema import Shapes
from rpc_agent.protocol.methods import METHODS
from rpc_agent.protocol.notifications import NOTIFICATIONS
from rpc_agent.protocol.typescript import typescript_text
from tests.support.contract import contract

TEXT = typescript_text(contract()) + "\n"


def piece(start: str) -> str:
    """The declaration that begins with `start`, up to the empty line after it."""
    at = TEXT.index(start)
    return TEXT[at : TEXT.index("\n\n", at)]


def test_params_are_an_interface_with_optional_fields() -> None:
    assert piece("export interface SetModelParams ") == (
        "export interface SetModelParams {\n"
        "  /** Ignored by the server; room for a client's own notes. */\n"
        "  _meta?: unknown;\n"
        "  /**\n"
        "   * The session that is meant. Absent: the connection's current session, the one it made or opened last; when\n"
        "   * there is none, a new one in the server's working directory.\n"
        "   */\n"
        "  sessionId?: string;\n"
        "  /** As in get_available_models. */\n"
        "  provider: string;\n"
        "  /** As `id` in get_available_models. */\n"
        "  modelId: string;\n"
        "}"
    )


def test_a_union_of_entries_leaves_out_the_one_that_would_hide_their_types() -> None:
    assert piece("export type Entry ") == (
        "export type Entry = MessageEntry | ThinkingLevelChangeEntry | ModelChangeEntry | UsageEntry | CompactionEntry"
        " | BranchSummaryEntry | ContextEditEntry | CustomEntry | CustomMessageEntry | LabelEntry | SessionInfoEntry;"
    )


def test_an_open_object_has_an_index_signature() -> None:
    assert piece("export interface TextBlock ") == (
        "export interface TextBlock {\n"
        '  type: "text";\n'
        "  /** Plain text or Markdown. */\n"
        "  text: string;\n"
        "  /** The provider's own mark; give it back unchanged or not at all. */\n"
        "  textSignature?: string;\n"
        "  [key: string]: unknown;\n"
        "}"
    )


def test_the_maps_name_everything_on_the_wire() -> None:
    for row in METHODS.values():
        assert f"  {row.name}: {{ params: {row.params.__name__}; result: " in piece("export interface Methods ")
    assert all(f"  {name}: " in piece("export interface Notifications ") for name in NOTIFICATIONS)
    assert all(f"  {name}: {{ params: " in piece("export interface ServerRequests ") for name in CLIENT_REQUESTS)
    assert '  "$/cancelRequest": CancelRequestParams;' in piece("export interface ClientNotifications ")
    assert "  get_tree: { params: GetTreeParams; result: FlatTree | NestedTree };" in TEXT
    assert "  shutdown: { params: NoParams; result: null };" in TEXT


def test_the_error_codes_hold_every_reason() -> None:
    codes = piece("export const ERROR_CODES ")
    assert all(f"  {reason}: {row.code}," in codes for reason, row in ERRORS.items())


def test_odd_shapes_become_plain_typescript() -> None:
    odd = Shapes(
        {
            "Odd": {
                "description": "Ends a comment: */ early.",
                "properties": {
                    "with-dash": {"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]},
                    "list": {"type": "array", "items": {"enum": ["a", "b"]}},
                    "map": {"type": "object", "additionalProperties": {"type": "string"}},
                    "inner": {"type": "object", "properties": {"x": {"const": 1}}, "required": ["x"]},
                    "whatever": {},
                },
                "required": ["list"],
            },
        },
        contract().params,
        contract().results,
        {},
    )
    text = typescript_text(odd)
    start = text.index("/** Ends a comment")
    assert text[start : text.index("\n\n", start)] == (
        "/** Ends a comment: * / early. */\n"
        "export interface Odd {\n"
        '  "with-dash"?: number | null;\n'
        '  list: ("a" | "b")[];\n'
        "  map?: Record<string, string>;\n"
        "  inner?: {\n"
        "    x: 1;\n"
        "  };\n"
        "  whatever?: unknown;\n"
        "}"
    )
