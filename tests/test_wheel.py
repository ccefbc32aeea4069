"""The wheel and the source archive: what is in them, and that a wheel works where it is put."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import maskrank

ROOT = Path(__file__).parents[1]
VERSION = maskrank.__version__
PROGRAM = """
import sys
import maskrank
from maskrank import DualNetClassifier
from maskrank.datasets import make_xor
from maskrank.report import RankingSection

X, y, relevant = make_xor(200, random_state=0)
model = DualNetClassifier(3, max_batches=16, random_state=0).fit(X, y)
print(maskrank.__file__, len(model.result_.selected))
"""

pytest.importorskip("build", reason="build is not installed (extra dev)")
pytest.importorskip("setuptools", reason="setuptools is not installed (extra dev)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, made of the source archive, and the archive."""
    folder = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("copy")  # setuptools writes beside the sources
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not files:
        pytest.skip("not in a clone")
    wanted = [name for name in files.split("\0") if name.startswith("src/") or "/" not in name]
    for name in filter(None, wanted):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def test_the_wheel_holds_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, _ = built
    assert wheel.name == f"maskrank-{VERSION}-py3-none-any.whl"
    assert wheel.stat().st_size < 1_000_000
    names = set(zipfile.ZipFile(wheel).namelist())
    about = f"maskrank-{VERSION}.dist-info/"
    package = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/maskrank").rglob("*") if path.is_file()}
    package = {name for name in package if "__pycache__" not in name}
    assert {name for name in names if not name.startswith(about)} == package
    assert {"maskrank/py.typed", "maskrank/report/templates/style.css", "maskrank/datasets/catalogue.toml"} <= package
    assert f"{about}licenses/LICENSE" in names


def test_the_source_archive_holds_what_belongs_to_a_release(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.removeprefix(f"maskrank-{VERSION}/") for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "constraints.txt"} <= names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs"))]


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(f"maskrank-{VERSION}.dist-info/METADATA"))


def test_the_metadata_says_what_is_needed(built: tuple[Path, Path]) -> None:
    found = metadata_of(built[0])
    assert (found["Name"], found["Version"], found["Requires-Python"]) == ("maskrank", VERSION, ">=3.11")
    assert found["License-Expression"] == "BSD-3-Clause"
    assert {"report", "onnx", "parquet", "cluster"} <= set(found.get_all("Provides-Extra", []))
    required = found.get_all("Requires-Dist", [])
    assert 'onnx>=1.17; extra == "onnx"' in required
    assert [line for line in required if line.startswith("torch>=") and "extra" not in line]


def test_the_unpacked_wheel_fits_and_has_its_command(built: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(tmp_path / "there")
        (entry,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "maskrank = maskrank.__main__:main" in entry
    surroundings = {**os.environ, "PYTHONPATH": str(tmp_path / "there"), "PYTHONDONTWRITEBYTECODE": "1"}

    def call(*arguments: str) -> str:
        asked: Any = {"capture_output": True, "text": True, "check": True, "cwd": tmp_path, "env": surroundings}
        return subprocess.run([sys.executable, *arguments], **asked).stdout

    place, n_selected = call("-c", PROGRAM).split()
    assert Path(place).parent == tmp_path / "there" / "maskrank"
    assert n_selected == "3"
    assert call("-m", "maskrank", "--version") == f"maskrank {VERSION}\n"


def test_the_version_is_semantic_and_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-?(a|b|rc|dev)\.?\d+)?", VERSION)
    assert re.search(rf"^version: {re.escape(VERSION)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    assert VERSION in first


def test_the_citation_file_has_what_its_schema_needs() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert set(cited) >= {"cff-version", "message", "title", "authors"}
    assert cited["cff-version"] == "1.2.0"
    assert cited["license"] == "BSD-3-Clause"
    paper = cited["preferred-citation"]
    assert set(paper) >= {"type", "title", "authors"}
    assert [author["family-names"] for author in paper["authors"]] == ["Wojtas", "Chen"]
