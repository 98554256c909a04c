"""Files: ones that are read, ones that mean harm or cannot be opened, and ones of other kinds."""

from knowledge.ingest.formats.registry import FORMATS
from tests.knowledge import offices
from tests.knowledge.pdfs import Sheet, pdf
from tests.knowledge.site import Answer, Site
from tests.knowledge.site import pdf as regulations

ANY_FILE = "application/octet-stream"
NOTICE = "Modulbeschreibungen"
PHYSICS = "Prüfungsordnung für den Masterstudiengang Physik vom 3. Mai 2019"
#: Files that tell their kind by their name alone.
READ = {
    "/slides.pptx": offices.slides,
    "/regulation.docx": offices.word,
    "/canteen.odt": offices.open_text,
    "/from-elsewhere.docx": lambda: offices.linked(offices.word("Merkblatt Praktikum")),
}
#: Titles of files that tell them apart from others.
TITLES = {
    "/handbook.pdf": "Regulations",
    "/slides.pptx": "Einführung in das Studium",
    "/download?id=7": "Prüfungstermine",
    "/regulation.docx": "Prüfungsordnung Biologie",
    "/canteen.odt": "Mensa",
    "/getfile?id=8": "Urlaubssemester",
    "/from-elsewhere.docx": "Merkblatt Praktikum",
    "/modules/informatik.pdf": f"{NOTICE}: Bachelorstudiengang Informatik, Stand: Oktober 2024",
    "/modules/mh_biologie_2021.pdf": f"{NOTICE} (mh biologie 2021)",
    "/modules/po_physik.pdf": f"University: {PHYSICS}",
}
MODULES = {
    "/modules/informatik.pdf": (NOTICE, "Bachelorstudiengang Informatik", "Stand: Oktober 2024"),
    "/modules/mh_biologie_2021.pdf": (NOTICE, "Zoologie, Botanik, Genetik"),
    "/modules/po_physik.pdf": ("University", PHYSICS),
}
REMARKS = {
    "/download?id=7": "hidden sheets were left out: intern",
    "/from-elsewhere.docx": "it takes content from elsewhere, which was not fetched (http://templates.example/t.dotm): "
    "put into the file what students need",
}
ENTITY = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
#: Files that mean harm or cannot be opened, and what staff are told of each.
HOSTILE = {
    "/macro.docx": (
        lambda: offices.with_part(offices.word(), "word/vbaProject.bin", b"x"),
        "it holds macros, which could harm whoever opens it: save it without them, as .docx",
    ),
    "/password.xlsx": (offices.encrypted, "it opens with a password only: save it without one"),
    "/unpacks.docx": (
        lambda: offices.bomb(310_000_000),
        "unpacked it has 310 MB; 300 are allowed: make its pictures smaller or split it",
    ),
    "/long.xlsx": (
        lambda: offices.long_list(100_000),
        "it has more than 20000 rows: students are answered from tables that people read; take a file with the part "
        "that they ask for",
    ),
    "/entities.docx": (
        lambda: offices.with_part(offices.word(), "word/comments.xml", ENTITY),
        "it declares entities, as no office program does: save it anew in one",
    ),
    "/cut-off.docx": (lambda: offices.word()[:5000], "it is cut off or damaged: copy or download it again"),
    "/renamed.docx": (offices.slides, "its name ends in .docx, but it is a .pptx file: rename it"),
}
REFUSED = {path: reason for path, (_make, reason) in HOSTILE.items()}
LEFT_OUT = {
    "/data.zip": "it is neither a page nor a file that can be read but application/zip",
    "/letter.doc": "it is of an old format (.doc): save it as .docx and take that file",
    "/tool.xlsm": "it may hold macros (.xlsm): save it as .xlsx, which has none, and take that file",
}

DOCUMENTS = tuple(TITLES)
LINKS = (*DOCUMENTS, *REFUSED, *LEFT_OUT)


def fill(site: Site) -> None:
    add = site.answers
    add |= {path: file(make()) for path, make in READ.items()}
    add |= {path: file(make()) for path, (make, _reason) in HOSTILE.items()}
    add["/handbook.pdf"] = file(regulations("Regulations of study"), ".pdf")
    add["/download"] = file(offices.workbook(), ".xlsx", named="filename*=UTF-8''Pr%C3%BCfungstermine.xlsx")
    add["/getfile"] = file(offices.rich_text(), named='filename="Beurlaubung.rtf"')
    add |= {path: file(cover(*said), ".pdf") for path, said in MODULES.items()}
    add["/data.zip"] = Answer(200, b"PK\x03\x04" + b"0" * 1000, {"Content-Type": "application/zip"})
    add["/letter.doc"] = Answer(200, b"\xd0\xcf\x11\xe0", {"Content-Type": "application/msword"})
    add["/tool.xlsm"] = file(b"PK\x03\x04")


def file(body: bytes, kind: str = "", *, named: str = "") -> Answer:
    """Answer with a file; without `kind` only its name says what it is: that of its address, or as `named`."""
    disposition = {"Content-Disposition": f"attachment; {named}"} if named else {}
    return Answer(200, body, {"Content-Type": FORMATS[kind].media_types[0] if kind else ANY_FILE, **disposition})


def cover(title: str, *lines: str) -> bytes:
    """Make a PDF of one page, with a title and lines of print."""

    def draw(sheet: Sheet) -> None:
        sheet.heading(title, size=20)
        for line in lines:
            sheet.line(line, above=12)

    return pdf(draw, title=title)
