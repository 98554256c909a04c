"""A progress bar on a terminal, silence elsewhere; always on standard error, which `--json` leaves alone."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function that takes (done, of)."""
    with tqdm(desc=label, file=sys.stderr, disable=None, leave=False) as bar:

        def show(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield show
