"""What ``maskrank doctor`` finds: versions, extras, devices, threads, memory, folders, and what to do about problems.

Everything is looked at and nothing is changed, but for an empty file that is written to each folder and removed. What
maskrank needs is imported inside functions, as it may be what is missing.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import maskrank

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?(?:>=([\d.]+))?[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
_OF_DEVELOPMENT = ("bench", "dev", "docs")  # extras that only the repository uses
_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "MASKRANK_DATA_DIR", "MASKRANK_CACHE_DIR")
_TORCH = """
import json, torch
names = ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
kind = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
print(json.dumps([f"{kind} ({names})" if names else kind, torch.get_num_threads()]))
"""


@dataclass(frozen=True)
class Package:
    """A package that maskrank uses.

    Attributes
    ----------
    name : str
    least : str
        The oldest version that does; empty for any.
    version : str or None
        What is installed.
    """

    name: str
    least: str
    version: str | None

    @property
    def is_good(self) -> bool:
        """Whether it is there, and new enough."""
        return self.version is not None and _numbers(self.version) >= _numbers(self.least)


@dataclass
class Diagnosis:
    """An installation.

    Attributes
    ----------
    packages : list of Package
        What maskrank always needs.
    extras : dict of str to list of Package
    device : str
        The device that "auto" takes, and others that are there.
    threads, cores : int
        Those that torch uses, and those that this process may use.
    memory : int or None
        Free bytes; None where they can't be told.
    folders : dict of str to Path
    variables : dict of str to str
        Of the environment, those that change what is done.
    problems : list of str
        What keeps maskrank from working, and what to do: one line each.
    """

    packages: list[Package] = field(default_factory=list)
    extras: dict[str, list[Package]] = field(default_factory=dict)
    device: str = ""
    threads: int = 0
    cores: int = 0
    memory: int | None = None
    folders: dict[str, Path] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[tuple[str, str]]:
        """Labels and values for people."""
        missing = [name for name, packages in self.extras.items() if not all(one.is_good for one in packages)]
        present = [name for name in self.extras if name not in missing]
        return [
            ("maskrank", f"{maskrank.__version__}, in {Path(maskrank.__file__).parent}"),
            ("python", f"{platform.python_version()}, {sys.executable}"),
            ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
            ("packages", ", ".join(f"{one.name} {one.version or 'missing'}" for one in self.packages)),
            ("extras", ", ".join(present) or "none"),
            *([("not installed", f"{', '.join(missing)}: pip install 'maskrank[{missing[0]}]'")] if missing else []),
            ("device", self.device or "unknown"),
            ("threads", f"{self.threads} of {self.cores} cores"),
            ("memory", "unknown" if self.memory is None else f"{self.memory / 1e9:.1f} GB free"),
            *((f"{what} folder", str(folder)) for what, folder in self.folders.items()),
            *((name, value) for name, value in self.variables.items()),
        ]

    def document(self) -> dict[str, Any]:
        """The same for other programs."""
        return {
            "version": maskrank.__version__,
            "python": platform.python_version(),
            "system": platform.platform(),
            "packages": {one.name: one.version for one in self.packages},
            "extras": {name: all(one.is_good for one in packages) for name, packages in self.extras.items()},
            "device": self.device,
            "threads": self.threads,
            "cores": self.cores,
            "free_memory": self.memory,
            "folders": {what: str(folder) for what, folder in self.folders.items()},
            "variables": self.variables,
            "problems": self.problems,
        }


def diagnose() -> Diagnosis:
    """Look at this installation."""
    found = Diagnosis(variables={name: os.environ[name] for name in _VARIABLES if os.environ.get(name)})
    found.cores = _cores()
    _look_at_packages(found)
    _look_at_torch(found)
    _look_at_memory(found)
    _look_at_folders(found)
    return found


def _look_at_packages(found: Diagnosis) -> None:
    try:
        required = metadata.requires("maskrank") or []
    except metadata.PackageNotFoundError:
        found.problems.append("maskrank itself is not installed: pip install maskrank, or make demo in a clone")
        return
    for line in required:
        match = _REQUIREMENT.match(line)
        assert match is not None  # of the package's own requirements
        name, least, extra = match[1], match[2] or "", match[3]
        package = Package(name, least, _version(name))
        if extra is not None:
            if extra not in _OF_DEVELOPMENT:
                found.extras.setdefault(extra, []).append(package)
            continue
        found.packages.append(package)
        if not package.is_good:
            have = "not installed" if package.version is None else f"{package.version}, which is too old"
            found.problems.append(f"{name} is {have}: pip install '{name}>={least}'")
    installed = metadata.version("maskrank")
    if installed != maskrank.__version__:
        found.problems.append(
            f"the files are of maskrank {maskrank.__version__}, installed is {installed}: pip install it again"
        )


def _look_at_torch(found: Diagnosis) -> None:
    """Import torch in a process of its own: that it is installed does not say that it works, and it may crash."""
    if any(package.name == "torch" and package.version is None for package in found.packages):
        return
    done = subprocess.run([sys.executable, "-P", "-c", _TORCH], capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1][:200]
        found.problems.append(f"torch can't be imported ({said}): install it again as pytorch.org says for your system")
        return
    found.device, found.threads = json.loads(done.stdout)
    if found.threads > found.cores:
        found.problems.append(
            f"{found.threads} threads share {found.cores} cores, which is slow: set OMP_NUM_THREADS={found.cores}"
        )


def _look_at_memory(found: Diagnosis) -> None:
    try:
        from maskrank.tables.memory import PROCESS, free_bytes, size_text
    except ImportError:
        return  # of a package that is named above
    found.memory = free_bytes()
    if found.memory < 2 * PROCESS:
        found.problems.append(
            f"only {size_text(found.memory)} of memory are free, and a fit takes {size_text(PROCESS)} and its table: "
            "close other programs"
        )


def _look_at_folders(found: Diagnosis) -> None:
    try:
        found.folders["current"] = Path.cwd()
    except OSError:
        found.problems.append("the current folder is not there any more: change to another")
    try:
        found.folders["temporary"] = Path(tempfile.gettempdir())
    except OSError:
        found.problems.append("no temporary folder can be written: set TMPDIR to one that can")
    with suppress(ImportError):  # without pooch nothing is downloaded
        from maskrank.datasets.public import cache_folder

        found.folders["cache"] = cache_folder()
    advice = {
        "current": "give outputs a path elsewhere",
        "temporary": "set TMPDIR to another",
        "cache": "set MASKRANK_CACHE_DIR to another",
    }
    for what, folder in found.folders.items():
        error = _not_writable(folder)
        if error is not None:
            found.problems.append(f"the {what} folder {folder} can't be written ({error}): {advice[what]}")


def _not_writable(folder: Path) -> str | None:
    """Why no file can be written to a folder, or to the first one above it that is there; None if one can."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or type(error).__name__


def _cores() -> int:
    """Those that this process may use; in a container those of its limit."""
    try:
        from joblib import cpu_count
    except ImportError:
        return os.cpu_count() or 1
    return int(cpu_count())


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.13.0+cpu is (2, 13, 0)."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
