"""What a person sees: width, colour, progress, and no control characters of others."""

import io

from rpc_agent.cli.controls import printable
from rpc_agent.cli.terminal import Terminal


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_neither_colour_nor_moving_progress() -> None:
    pipe = io.StringIO()
    out = Terminal(pipe, {})
    out.line("done", "good")
    out.progress("half-way")
    out.line("next")
    assert pipe.getvalue() == "done\nnext\n"


def test_a_screen_gets_colour_unless_it_is_refused() -> None:
    coloured, plain, dumb = Screen(), Screen(), Screen()
    Terminal(coloured, {"TERM": "xterm"}).line("done", "good")
    Terminal(plain, {"TERM": "xterm", "NO_COLOR": "1"}).line("done", "good")
    Terminal(dumb, {"TERM": "dumb"}).line("done", "good")
    assert coloured.getvalue() == "\x1b[32mdone\x1b[0m\n"
    assert (plain.getvalue(), dumb.getvalue()) == ("done\n", "done\n")


def test_progress_is_overwritten_by_what_comes_next() -> None:
    screen = Screen()
    out = Terminal(screen, {"TERM": "xterm", "NO_COLOR": "1"}, width=40)
    out.progress("working")
    out.line("done")
    assert screen.getvalue() == "working\r       \rdone\n"


def test_a_line_begins_on_a_line_of_its_own() -> None:
    pipe = io.StringIO()
    out = Terminal(pipe, {})
    out.write("streamed")
    out.line("said")
    out.fresh_line()
    assert pipe.getvalue() == "streamed\nsaid\n"


def test_long_lines_are_cut_to_the_width() -> None:
    out = Terminal(io.StringIO(), {}, width=20)
    assert out.clipped("a line\nof words that go on") == "a line of words ..."
    assert out.clipped("short") == "short"


def test_a_tab_counts_as_wide_as_it_is_shown() -> None:
    out = Terminal(io.StringIO(), {}, width=20)
    assert out.clipped("a\tb\tc\td") == "a       b       ..."


def test_wide_characters_count_as_wide_as_they_are() -> None:
    out = Terminal(io.StringIO(), {}, width=20)
    assert out.clipped("鷺" * 20) == "鷺" * 8 + "..."
    assert out.clipped("e\u0301" * 19) == "e\u0301" * 19


def test_control_characters_of_files_and_models_do_not_reach_the_screen() -> None:
    assert printable("a\x1b]0;title\x07b\x9b2J\r\tc\n") == "a\ufffd]0;title\ufffdb\ufffd2J\ufffd\tc\n"
    assert printable("rm \u202eyrotcerid\u202c \u2066x\u2069") == "rm \ufffdyrotcerid\ufffd \ufffdx\ufffd"
    # What languages written from right to left need, and an emoji of several, stay.
    assert (
        printable("\u05d0\u200f \u0627\u061c \u200e \U0001f468\u200d\U0001f469")
        == "\u05d0\u200f \u0627\u061c \u200e \U0001f468\u200d\U0001f469"
    )
