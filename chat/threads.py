"""Database work from the event loop."""

from functools import partial

from channels.db import database_sync_to_async

#: Runs a function in a thread and gives its connection back afterwards; threads work side by side.
in_database = partial(database_sync_to_async, thread_sensitive=False)
