"""PDFs into Markdown: `reading.read_pdf` is the way in. Knows no Django.

The steps, each a module: `extraction` (what pdfplumber sees of a page), `layout` (characters into lines in reading
order), `tables` (grids into sentences), `running` (headers, footers and page numbers go), `contents` (a table of
contents goes, but says what the headings are), `headings`, `words` (hyphens, language), `markdown`. `document` calls
them; `child` does so in a process with limits, which `reading` watches.
"""
