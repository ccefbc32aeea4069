"""What MkDocs calls while it builds the site: outputs are made first, and files outside `docs` find their place."""

from __future__ import annotations

import logging
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
OUTSIDE = ("CHANGELOG.md", "examples/*.py", "benchmarks/results/*.*", "benchmarks/results/study/*/*.*")
_NO_WORDS = re.compile(r"–\s*<div class=\"doc-md-description\">\s*</div>")
_LOADS = re.compile(r"<(?:script|img|iframe|link|source)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")
_LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+)")
_log = logging.getLogger("mkdocs.hooks")


def on_pre_build(config: Any) -> None:
    """Run the snippets that changed."""
    if subprocess.run([sys.executable, str(DOCS / "make_pictures.py")]).returncode:
        raise SystemExit("docs/make_pictures.py failed, see above")


def on_files(files: Files, config: Any) -> Files:
    """Take in what pages link to and lies outside `docs`."""
    from mkdocs.structure.files import File

    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            place = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point links that leave `docs` at the copies in the site; in the repository they work as they are."""
    return _LINK.sub(lambda link: inside(link[1], page.file.src_uri), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Leave out the dash behind a parameter that needs no words."""
    return _NO_WORDS.sub("", html)


def on_post_page(output: str, page: Page, **_: Any) -> None:
    """Warn of a page that loads something from another place; with --strict this ends the build."""
    for address in loaded_from_elsewhere(output):
        _log.warning("%s loads %s", page.file.src_uri, address)


def loaded_from_elsewhere(html: str) -> list[str]:
    """Addresses of other places in tags that load; links in the text are none."""
    return _LOADS.findall(html)


def inside(link: str, page: str) -> str:
    """A relative link of a page, as one that does not leave the site."""
    folder = posixpath.dirname(page)
    target = posixpath.normpath(posixpath.join("docs", folder, link))
    return link if target.startswith("docs/") else posixpath.relpath(target, folder or ".")
