"""Signs of life while something takes long that tells of no progress, such as embedding a book at a slow endpoint."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import Error, connection

logger = logging.getLogger(__name__)


@contextmanager
def beating(beat: Callable[[], object], *, every: float) -> Iterator[None]:
    """Calls `beat` every so many seconds, in a thread with a database connection of its own; with another one the next
    time where the database is away."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(every):
            try:
                beat()
            except Error as error:
                logger.warning("no sign of life error=%s", type(error).__name__)
                connection.close()
        connection.close()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
