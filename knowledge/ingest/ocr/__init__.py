"""Text on pictures of pages; `reader.read_pictures` is the entry point. Knows no Django.

`engine` reads one picture with RapidOCR, `skew` sets straight what was scanned askew, `sandbox` renders a PDF's pages
and reads them in a process with limits, which `reader` watches. The libraries are an extra, imported in the sandbox
alone.
"""
