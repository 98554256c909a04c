"""Word files, by mammoth; their automatic numbers, which it leaves out, by `word_numbers`."""

from typing import BinaryIO

from knowledge.ingest.formats.types import FileText, Format, Limits, Progress, Write

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(file: BinaryIO, *, limits: Limits, progress: Progress, write: Write) -> FileText:
    import mammoth
    from lxml import html

    from knowledge.ingest.formats.archive import from_elsewhere, open_archive
    from knowledge.ingest.formats.markup import file_text
    from knowledge.ingest.formats.pictures import remark_on_pictures
    from knowledge.ingest.formats.word import numbered, picture_sizes, stated_title, style_map

    archive = open_archive(file, ".docx", limits)
    made = mammoth.convert_to_html(
        numbered(archive),
        style_map=style_map(archive),
        convert_image=mammoth.images.img_element(lambda _image: {"src": ""}),
        include_embedded_style_map=False,
        external_file_access=False,
    )
    root = html.document_fromstring(f"<body>{made.value}</body>")
    for back in root.xpath("//a[starts-with(@href, '#')]"):  # ↑ of a footnote, and marks within the text
        if back.text == "↑":
            back.drop_tree()
    warnings = [*from_elsewhere(archive), *remark_on_pictures(picture_sizes(archive))]
    return file_text(root, write=write, stated_title=stated_title(archive), warnings=warnings)


FORMAT = Format(".docx", "Word", (MEDIA_TYPE,), read, b"PK")
