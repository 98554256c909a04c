"""Helpers of management commands. Progress is shown on standard error, since `--json` writes to standard output."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug
from tqdm import tqdm


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on a terminal, and yield a function that takes (done, of)."""
    with tqdm(desc=label, file=sys.stderr, disable=None, leave=False) as bar:

        def show(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield show


def check_collection(slug: str) -> None:
    """Check a collection's name; raises CommandError if it is not valid."""
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise CommandError(f"--collection {slug!r}: letters, digits, hyphens and underscores only.") from error
