"""The crawler: a process of its own that fetches and reads a site, and uses no database.

`python -m knowledge.ingest.crawler PLAN.json` writes one finding a line (`messages`). `spider` walks the site. Its
rules are apart: `ssrf` (which machines it may connect to) and `frontier` (which addresses belong to the site, which are
the same page, what is visited next, and where to stop).
"""
