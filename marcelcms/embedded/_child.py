"""Becomes another program that gets SIGNAL when its parent dies: `_child.py PARENT SIGNAL UID GID PROGRAM ARGUMENT...`.

A program of its own, because `preexec_fn` is unsafe with threads. It may be started by root and become a user who
cannot even read this file, so everything it needs is imported before it gives up its rights.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, signum, uid, gid = map(int, sys.argv[1:5])
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
        os.umask(0o077)
    if libc:
        libc.prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0)  # after setuid, which clears it
    if os.getppid() != parent:  # it died before the request above
        sys.exit(1)
    os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606


if __name__ == "__main__":
    main()
