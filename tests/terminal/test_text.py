from __future__ import annotations

import shutil
import subprocess

import pytest

from maskrank.terminal.text import brief_seconds, lined_up, one_line, shell_word, short, visible

HARMLESS = ["weight", "größe", "עברית", "عمر", "👩‍👩‍👧 🎉", "[red]", "<b>", "a  b", "na\u00a0me", "x" * 300]
HOSTILE = ["a\nb", "\x1b[31mred\x1b[0m", "\u202edlrow", "\u2066x", "zero\u200bwidth", "\x85", "\u2028", "\r\tx", "\x00"]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_a_terminal_can_show_is_shown_as_given(name: str) -> None:
    assert visible(name) == name


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_terminal_obeys_is_spelled_out(name: str) -> None:
    shown = visible(name)
    assert shown.isprintable()
    assert len(shown.splitlines()) == 1
    assert shown.encode("latin-1", "backslashreplace").decode("unicode-escape") == name


def test_messages_are_one_line_and_keep_the_spaces_of_names() -> None:
    assert one_line("first 'a  b'\n   second\r\nthird") == "first 'a  b' second third"


def test_long_names_are_cut() -> None:
    assert short("a" * 40) == "a" * 40
    assert short("a" * 41) == "a" * 39 + "…"
    assert short("\n" * 41) == ("\\n" * 20)[:39] + "…"


@pytest.mark.parametrize(
    ("values", "digits", "shown"),
    [
        ([0.9772, 0.96, 1.0], 4, ["0.977", "0.960", "1.000"]),
        ([0.011, 0.03], 2, ["0.011", "0.030"]),
        ([3241.3, 6078.0], 4, ["3241", "6078"]),
        ([3241.3, 0.001], 4, ["3241", "0.001"]),  # a small one does not vanish
        ([1.5e12, 2e6], 3, ["1.5e+12", "2e+06"]),
        ([0.0, 0.0], 3, ["0.00", "0.00"]),
        ([float("nan"), 0.5], 2, ["nan", "0.50"]),
        ([], 3, []),
    ],
)
def test_points_stand_below_each_other(values: list[float], digits: int, shown: list[str]) -> None:
    assert lined_up(values, digits) == shown


def test_a_time_is_never_nothing() -> None:
    assert [brief_seconds(seconds) for seconds in (0.0, 0.04, 0.06, 12.34)] == ["<0.1", "<0.1", "0.1", "12.3"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_a_shell_reads_every_name_as_it_is() -> None:
    names = [
        *HARMLESS,
        *HOSTILE[:-1],
        "$HOME `id`",
        "it's",
        '"',
        "back\\slash\n'",
        "=ls",
        "-x",
        "",
        "soft\xadhyphen",
        "~",
    ]
    words = " ".join(map(shell_word, names))
    assert visible(words) == words
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True
    )
    assert done.stdout.decode().split("\0")[:-1] == names
