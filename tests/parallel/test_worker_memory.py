"""Dask's nanny lets its workers give all freed memory back at once; inside a fit they keep it."""

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")

# Arrays of 1 MB, made and freed: malloc takes a page fault for each page that it had given back to the system.
_FAULTS = """
import contextlib, resource
import numpy as np
from maskrank.parallel.worker_memory import memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
with memory_kept():
    inside = faults()
print(outside, inside, faults())
"""


def page_faults(**setting: str) -> list[int]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS], env=plain | setting, capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()]


def test_a_worker_keeps_freed_memory_while_it_fits_and_gives_it_back_as_before_afterwards():
    before, inside, after = page_faults(MALLOC_TRIM_THRESHOLD_="65536")
    assert inside < before / 10
    assert after > inside * 5


def test_a_process_without_dasks_setting_is_left_as_it_is():
    before, inside, _ = page_faults()
    assert inside <= before  # nothing is set: glibc adapts its own thresholds
