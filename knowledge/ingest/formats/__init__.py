"""Files as Markdown; `reader.read_file` is the entry point. Knows no Django.

Each module in `readers` is one format: what its files are called and look like, and `read`. `registry` finds them,
`sandbox` reads a file in a process with limits, which `reader` watches.
"""
