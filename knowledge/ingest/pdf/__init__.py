"""PDFs into Markdown: `reading.read_pdf` is the way in. Knows no Django.

The steps: `extraction` (what pdfplumber sees of a page), `layout` (characters into lines in reading order, by
`segments` and `columns`), `tables` (grids into sentences), `running` (headers, footers and page numbers go),
`contents` (a table of contents goes, but says what the headings are), `headings` (by `candidates`, `numbering` and
`levels`), `blocks` (lines into paragraphs), `markdown`; `words` knows of hyphens and languages. `document` calls
them; `child` does so in a process with limits, which `reading` watches.
"""
