"""Pages that are empty without JavaScript, rendered by a Chromium that has no network.

`rules` (what a page's scripts may load), `resources` (loads it as the crawler loads pages), `page` (one page, from
its shell to what its scripts made of it), `browser` (the Chromium of a crawl), `memory` (what it takes). Playwright is
an extra, imported when the browser starts.
"""
