"""The crawler: a process of its own that fetches and reads a site, and knows no database.

`python -m knowledge.ingest.crawler PLAN.json` says one finding a line (`messages`). `spider` walks the site; what it
decides by is apart: `ssrf` (which machines it may talk to), `frontier` (which addresses are the site's, which are the
same page, what is visited next, and what no more).
"""
