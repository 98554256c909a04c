"""The crawler: a process of its own that fetches and reads a site, and knows no database.

`python -m knowledge.ingest.crawler PLAN.json` says one finding a line (`findings`). `spider` walks the site; what it
decides by is apart and pure: `addresses` (which machines it may talk to), `scope` (which addresses are the site's, and
which are the same page), `frontier` (what is visited next, and what no more).
"""
