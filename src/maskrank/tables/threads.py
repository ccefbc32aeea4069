"""Whether pyarrow can have the threads that it reads with: where it can't, it would wait for them for ever."""

from __future__ import annotations

import mmap
import threading

from maskrank.tables.errors import TableError

_BESIDE = 1 << 27  # bytes that they take beside their stacks


def require_threads(where: str) -> None:
    """Start as many threads as pyarrow has at most, and end them; a `TableError` where that can't be done."""
    import pyarrow as pa

    over, started = threading.Event(), []
    try:
        with mmap.mmap(-1, _BESIDE):
            for _ in range(pa.cpu_count() + pa.io_thread_count()):
                started.append(threading.Thread(target=over.wait, daemon=True))
                started[-1].start()
    except (RuntimeError, MemoryError, OSError) as error:
        started = [thread for thread in started if thread.ident is not None]
        raise TableError(f"{where}: there is not enough memory for the threads that read it") from error
    finally:
        over.set()
        for thread in started:
            thread.join()
