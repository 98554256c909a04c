"""Pictures of text: scans, pages that show a picture instead of words, and pictures that are none of text."""

from tests.knowledge import scans
from tests.knowledge.pdfs import PROSE, pdf, text_pages
from tests.knowledge.site import Answer, Site, page, prose

#: Files whose pages are pictures: all of them, the only one, and one in the middle of a good file.
SCANS = {
    "/scan.pdf": pdf(*[scans.picture_page(scans.photographed("?"))] * 2),
    "/notice.pdf": pdf(scans.slip(scans.photographed("?"))),
    "/study-plan.pdf": pdf(
        *text_pages(PROSE[0] * 3),
        scans.picture_page(scans.photographed("?"), "Plan of study"),
        *text_pages(PROSE[1] * 3),
    ),
}
#: Pages that show a picture instead of many words, and one that leads to pictures.
PICTURE_PAGES = {
    "/plan": "<title>Plan</title><main><h1>Plan of study</h1><p>As of 2026</p>"
    "<a href=/plan-large.png><img src=/plan-small.png width=600></a></main><footer><img src=/logo.png></footer>",
    "/plan-elsewhere": "<title>Plan elsewhere</title><main><h1>Plan elsewhere</h1>"
    "<img src=http://elsewhere.example/plan.png></main>",
    "/gallery": f"<title>Gallery</title><main><h1>Gallery</h1><p>{prose('gallery')}</p>"
    "<img src=/hero.jpg><a href=/hall.jpg><img src=/hall-small.jpg></a>"
    "<a href=/exams.jpg>Plan of the exams</a> <a href=/campus.jpg>The campus</a></main>",
}
PICTURES = {
    "/poster.png": scans.file_of(scans.photographed("?")),
    "/plan-large.png": scans.file_of(scans.photographed("!")),
    "/exams.jpg": scans.file_of(scans.photographed("."), "JPEG"),
}
POSTER = "<title>Poster</title><body><main><img src=/poster.png alt=''></main>"
REMARKS = {
    "/scan.pdf": "2 of 2 pages are pictures of text and are being read by OCR: 1, 2",
    "/notice.pdf": "1 of 1 pages are pictures of text and are being read by OCR: 1",
    "/study-plan.pdf": "1 of 3 pages are pictures of text and are being read by OCR: 2",
    **dict.fromkeys(PICTURES, "it is a picture, which is being read by OCR"),
}
LEFT_OUT = {
    "/poster": "it says nothing itself but shows a picture: /poster.png",
    "http://elsewhere.example/plan.png": "it is a picture that a page shows, but not on this site",
}
#: What staff are told where OCR is not installed.
PICTURES_LEFT = {
    "/scan.pdf": "it was scanned: 2 of 2 pages are pictures without a text layer; recognise its text first",
    "/notice.pdf": "it was scanned: 1 of 1 pages are pictures without a text layer; recognise its text first",
    "/study-plan.pdf": "1 of 3 pages are pictures of text and were left out: 2",
    "/poster": LEFT_OUT["/poster"],
    **dict.fromkeys(PICTURES, "it is a picture: what it says can be read only where OCR is installed"),
}
REFUSED = {"/campus.jpg": "it looks like a photograph and not like text"}

DOCUMENTS = (*SCANS, *PICTURE_PAGES, *PICTURES)
LINKS = (*SCANS, *PICTURE_PAGES, "/poster")


def fill(site: Site) -> None:
    add = site.answers
    add |= {path: Answer(200, body, {"Content-Type": "application/pdf"}) for path, body in SCANS.items()}
    add |= {path: page(body.encode()) for path, body in PICTURE_PAGES.items()}
    add |= {path: Answer(200, body, {"Content-Type": f"image/{path[-3:]}"}) for path, body in PICTURES.items()}
    add["/poster"] = page(POSTER.encode())
    add["/campus.jpg"] = Answer(200, scans.file_of(scans.photograph(), "JPEG"), {"Content-Type": "image/jpeg"})
