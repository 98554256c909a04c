"""PDFs into Markdown: `reader.read_pdf` is the way in. Knows no Django.

The steps: `extract` (what pdfplumber sees of a page), `layout` (characters into lines in reading order, and words at
their ends), `tables` (grids into sentences), `headers_footers` (they go, and page numbers), `toc` (a table of contents
goes, but says what the headings are), `headings`, `blocks` (lines into paragraphs), `markdown`. `document` calls them;
`sandbox` does so in a process with limits, which `reader` watches.
"""
