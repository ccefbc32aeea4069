"""Work with a time limit: it runs in a process of its own, which is killed when the time is over.

Nothing less ends compiled code that hangs. The process is kept for the next piece of work, so that libraries are
imported, and data is sent, once; what that takes is not counted. It starts as a plain child process, which workers of
any backend may have.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from maskrank.parallel.fits import run_alone

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from maskrank.parallel.time_limit import serve; serve()"
)


class TimeLimit:
    """A function that raises a TimeoutError when a call takes too long; it survives being sent to another process.

    Parameters
    ----------
    work : function
        Of one argument; function, argument and result are sent to the process that does the work, and back.
    seconds : float
        The most that a call may take.
    """

    def __init__(self, work: Callable[[Any], Any], seconds: float) -> None:
        self._work, self._seconds = work, seconds
        self._key = uuid.uuid4().hex

    def __call__(self, argument: Any) -> Any:
        worker = _workers.get(self._key)
        if worker is None:
            close_workers()  # of earlier work
            worker = _workers[self._key] = _Worker(self._work)
        try:
            done, result = worker.call(argument, self._seconds)
        except BaseException:
            close_workers()
            raise
        if not done:
            raise result
        return result


def close_workers() -> None:
    """End the processes that this process started for work with a time limit."""
    for key in list(_workers):
        _workers.pop(key).kill()


class _Worker:
    """A process that answers calls of one function."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._calls, self._answers = self._process.stdin, queue.SimpleQueue[Any]()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers.put), daemon=True).start()
        try:
            self._calls.write(json.dumps(sys.path).encode() + b"\n")
            pickle.dump(work, self._calls)
            self._calls.flush()
        except BrokenPipeError:
            raise _died(self._process) from None
        if self._answers.get() is None:  # it is ready
            raise _died(self._process)

    def call(self, argument: Any, seconds: float) -> tuple[bool, Any]:
        """Whether the work was done, and its result or its error."""
        try:
            pickle.dump(argument, self._calls)
            self._calls.flush()
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"timed out after {seconds:g} s") from None
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise _died(self._process)
        done, result = answer
        return done, result

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream and stream.close()


_workers: dict[str, _Worker] = {}


def _died(process: subprocess.Popen[bytes]) -> RuntimeError:
    code = process.wait()
    reason = "killed, perhaps for want of memory" if code == -getattr(signal, "SIGKILL", 9) else f"exit code {code}"
    return RuntimeError(f"the process of the fit ended before the fit did ({reason})")


def _read(stream: IO[bytes], put: Callable[[Any], None]) -> None:
    """Hand on what arrives; None at the end."""
    with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        while True:
            put(pickle.load(stream))
    put(None)


def serve() -> None:
    """The process's side: take a function, answer calls of it, and end as soon as nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    work = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_read_calls, args=(calls,), daemon=True).start()
    _answer(answers, (True, "ready"))
    while True:
        try:
            answer = (True, run_alone(work, calls.get()))
        except Exception as error:
            answer = (False, error)
        _answer(answers, answer)


def _answer(stream: IO[bytes], answer: tuple[bool, Any]) -> None:
    try:
        packed = pickle.dumps(answer)
        pickle.loads(packed)  # some errors can't be made again from what they were packed into
    except Exception:
        packed = pickle.dumps((False, RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))
    stream.write(packed)
    stream.flush()


def _read_calls(calls: queue.SimpleQueue[Any]) -> None:
    def take(call: Any) -> None:
        if call is None:
            os._exit(0)
        calls.put(call)

    _read(sys.stdin.buffer, take)
