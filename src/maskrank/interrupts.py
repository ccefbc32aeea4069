"""Ctrl-C and SIGTERM of the command line: unfinished work is shown and written, and the process ends within 2 s.

A signal raises KeyboardInterrupt in the main thread. Where it does not get there, because the main thread is in a long
call of compiled code, or because a library swallows the exception, a second thread does the work in its place.

The standard library alone is imported: signals are listened to from the first moment on.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

STOPPED = 130  # exit code
_REACTION = 0.5  # seconds that the main thread has to react to a signal
_HEAD_START = 0.1  # seconds that the main thread has until its child processes are gone
_LIMIT = 1.5  # seconds after a signal when the process ends, whatever is still to be written

_TIDY_UP = "ignore:resource_tracker:UserWarning"  # joblib's process that tidies up behind a stop need not warn of it


class WorkLostError(OSError):
    """What does the work is gone for good; what is finished is shown and written, as at a stop."""


class _Stop:
    """The state of this process: one stop, asked for at most once."""

    def __init__(self) -> None:
        self.listens = False
        self.asked = threading.Event()
        self.claimed = threading.Lock()  # by the thread that leaves
        self.left = threading.Event()
        self.said = False
        self.leavers: list[Callable[[], str]] = []
        self.finished = ""


_stop = _Stop()


def listen() -> None:
    """Answer Ctrl-C and SIGTERM from now on; a signal that the parent process ignores stays ignored."""
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), _TIDY_UP]))
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise_once)
    _stop.listens = True
    threading.Thread(target=_watch, args=(receiver, sender), daemon=True).start()


def ignore() -> None:
    """The work is done: a signal from now on would only turn a result that is there into an error."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def shield_children() -> None:
    """Keep the SIGINT that a terminal sends to all its processes from those that this one starts from now on.

    They inherit that it is blocked in the main thread; here the thread that watches gets it.
    """
    if _stop.listens and hasattr(signal, "pthread_sigmask"):
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # it would unblock the signal again
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def stopping() -> bool:
    """Whether a stop was asked for."""
    return _stop.asked.is_set()


@contextmanager
def leaving(leave: Callable[[], str]) -> Iterator[None]:
    """Inside the block, ``leave`` is what a stop does with unfinished work; it may run in another thread.

    The same is done where a `WorkLostError` ends the block.

    It shows and writes what there is, and returns in a few words what is finished.
    """
    _stop.leavers.append(leave)
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | WorkLostError) or stopping():
            _leave()
        raise
    finally:
        _stop.leavers.remove(leave)


def _leave() -> None:
    """Show and write what is unfinished, once; a thread that comes second waits for the end of the process."""
    if not stopping():  # raised without a signal
        _stop.finished = _stop.leavers[-1]()
        return
    if _stop.left.is_set():
        return
    if not _stop.claimed.acquire(blocking=False):
        threading.Event().wait()
    try:
        for leave in _stop.leavers[-1:]:
            _stop.finished = leave()
    finally:
        _stop.left.set()


def end_process(code: int) -> NoReturn:
    """End at once, with all child processes, without waiting for threads, whatever happens on the way."""
    try:
        end_children()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        if os.isatty(2):
            os.write(2, b"\x1b[?25h")  # the cursor, which a progress bar hides
    finally:
        os._exit(code)


def end_children() -> None:
    """Kill the processes that this one started, and, where the system lists them, theirs."""
    multiprocessing = sys.modules.get("multiprocessing")
    children = [] if multiprocessing is None else [child.pid for child in multiprocessing.active_children()]
    for process in {*_descendants(os.getpid()), *children}:
        with suppress(OSError):
            os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _raise_once(number: int, frame: FrameType | None) -> None:
    if not stopping():
        _stop.asked.set()
        raise KeyboardInterrupt


def _watch(receiver: socket.socket, sender: socket.socket) -> None:
    """Wait for a signal; leave in the place of a main thread that does not react, and end a slow process."""
    known = bytes([signal.SIGINT, signal.SIGTERM])
    while receiver.recv(1) not in [known[:1], known[1:]]:
        pass
    started = time.monotonic()
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)  # wakes it up
    threading.Thread(target=_end_at, args=(started + _LIMIT,), daemon=True).start()
    time.sleep(_HEAD_START)
    end_children()  # they would compete for the processor, and be waited for
    while time.monotonic() < started + _REACTION:
        if _stop.claimed.locked():
            return
        time.sleep(0.02)
    _stop.asked.set()
    _leave()
    say_stopped()
    end_process(STOPPED)


def _end_at(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))
    if _stop.claimed.locked() and not _stop.left.is_set():
        _stop.finished = "there was no time to write everything"
    say_stopped()
    end_process(STOPPED)


def say_stopped() -> None:
    """Say once that the process stops, and what is finished."""
    if not _stop.said:
        _stop.said = stopping()
        finished, _stop.finished = _stop.finished, ""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"maskrank: stopped{finished and f': {finished}'}\n")
            sys.stderr.flush()


def _descendants(parent: int) -> list[int]:
    """Processes below one, where the system lists them; not those that clean up after a pool of processes."""
    found: list[int] = []
    for file in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                if not _cleans_up(child):
                    found += [child, *_descendants(child)]
    return found


def _cleans_up(process: int) -> bool:
    with suppress(OSError):
        return b"resource_tracker" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
