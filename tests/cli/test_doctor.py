"""What ``maskrank doctor`` says of an installation, and of a broken one."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import maskrank
from maskrank.cli import app

REQUIRED = [
    "numpy>=2.0",
    "torch>=2.6",
    'matplotlib>=3.9; extra == "report"',
    'nothing-like-it[fast]>=1.0; extra == "cluster"',
    'pytest>=8.3; extra == "dev"',
]


TORCH = """
class cuda:
    device_count = staticmethod(lambda: 2)
    get_device_name = staticmethod(lambda i: f"Card {i}")
    is_available = staticmethod(lambda: True)

get_num_threads = lambda: 1
"""  # the parts that are asked for: the real one takes seconds


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "torch.py").write_text(TORCH)
    monkeypatch.setenv("MASKRANK_CACHE_DIR", str(tmp_path / "not" / "there yet"))


def doctor(*arguments: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["doctor", *arguments])
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_a_good_installation() -> None:
    shown, said = doctor()
    lines = [line.split(maxsplit=1) for line in shown.splitlines() if line]
    facts = dict(lines)
    assert facts["maskrank"].startswith(f"{maskrank.__version__}, in ")
    assert facts["python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert f"torch {metadata.version('torch')}" in shown
    assert facts["extras"].split() == ["report"]
    assert facts["not"].split(maxsplit=1)[1].rstrip() == "cluster: pip install 'maskrank[cluster]'"
    assert shown.endswith("No problem was found.\n")
    assert said == ""


def test_json_holds_the_same(tmp_path: Path) -> None:
    doctor("--json", str(tmp_path / "d.json"))
    found = json.loads((tmp_path / "d.json").read_text())
    assert found["version"] == maskrank.__version__
    assert found["extras"] == {"report": True, "cluster": False}
    assert set(found["packages"]) == {"numpy", "torch"}
    assert found["device"] == "cuda (Card 0, Card 1)"
    assert found["threads"] == 1
    assert found["cores"] >= 1
    assert found["free_memory"] > 0
    assert set(found["folders"]) == {"current", "temporary", "cache"}
    assert found["problems"] == []
    assert json.loads(doctor("--json", "-")[0])["problems"] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nothing-like-it>=1.5", "nothing-like-it is not installed: pip install 'nothing-like-it>=1.5'"),
        ("numpy>=999.1", f"numpy is {metadata.version('numpy')}, which is too old: pip install 'numpy>=999.1'"),
    ],
)
def test_a_package_that_is_missing_or_old_is_named(monkeypatch: pytest.MonkeyPatch, line: str, said: str) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: [line])
    shown, _ = doctor(code=1)
    assert said in " ".join(shown.split())
    assert shown.count("pip install") == 1


def test_a_torch_that_can_t_be_imported_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libtorch_cpu.so: cannot open shared object file')")
    shown, _ = doctor(code=1)
    assert "torch can't be imported (OSError: libtorch_cpu.so: cannot open" in " ".join(shown.split())


def test_more_threads_than_cores_are_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(TORCH.replace("lambda: 1\n", "lambda: 999\n"))
    shown, _ = doctor(code=1)
    assert "999 threads share " in shown
    assert "set OMP_NUM_THREADS=" in shown


def test_a_folder_that_can_t_be_written_has_its_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MASKRANK_CACHE_DIR", str(tmp_path / "file"))
    shown, _ = doctor(code=1)
    text = " ".join(shown.split())
    assert "can't be written (Not a directory): set MASKRANK_CACHE_DIR to another" in text
