"""PDFs as Markdown; `reader.read_pdf` is the entry point. Knows no Django.

The steps: `content` (a page's drawing operators), `extract` (its characters and rules), `layout` (characters into lines
in reading order), `words` (words over the ends of lines), `tables` (grids, and what OCR read in columns, into rows,
forms and sentences), `pages` (keeps what was read, packed), `headers_footers` (drops them, and page numbers), `toc`
(drops the table of contents, and reads the headings from it), `headings`, `blocks` (lines into paragraphs), `markdown`.
`document` calls them; `sandbox` does so in a process with limits, which `reader` watches.
"""
