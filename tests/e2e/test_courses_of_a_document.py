"""Courses that a handbook describes, as staff see, decide and accept them in Chromium."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import ARTEFACTS
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
A_HANDBOOK = """
from knowledge.courses.proposals import propose
from knowledge.models import Collection, Course, Document
from knowledge.services.courses import accept_courses, fingerprint_proposals
from knowledge.services.documents import save_course, save_document

GROUNDS = ["Gardens and Parks", "Meadows", "Woods", "Rivers and Lakes of the Lowlands, and What Lives in Them"]
text = "".join(
    f"<!-- page {page} -->\\n\\n# {name}\\n\\n- Module no: NAME-{page}; State: compulsory; Language: English\\n"
    f"- Turn: each winter term; CP: {'6 or 9' if page == 4 else 6}; Workload (h): 180\\n\\n"
    f"4 Course content:\\n\\nWhat grows there, how it came to be there, and who looks after it.\\n\\n"
    f"- Plants\\n- Animals\\n\\n5 Learning outcomes: Students know {name.lower()}.\\n\\n"
    "- 6 Prerequisites: none\\n- 7 Examination: a written exam of 90 minutes\\n- 8 Lecturer: N. N.\\n\\n"
    for page, name in enumerate(GROUNDS * 2, start=1)
).replace("NAME-8", "NAME-7")
document = Document(
    collection=Collection.objects.get(slug="lindental"), url="https://www.uni.example/handbook-NAME.pdf",
    title="Handbook of modules NAME", text=text,
)
save_document(document=document)
if "NAME" in {"LA", "LB"}:
    expected = fingerprint_proposals(propose(document))
    accept_courses(document=document, chosen={"NAME1".lower(), "NAME2".lower(), "NAME3".lower()}, expected=expected)
    course = Course.objects.get(code="NAME-1")
    course.contents = "What grows in parks, and who looks after it.\\n\\n- Plants\\n- Animals"
    save_course(course=course, document=course.document)
    document.text = text.replace("- Plants", "- Trees", 1).replace("CP: 6", "CP: 7.5", 2).replace("90 min", "60 min", 2)
    save_document(document=document)
print("number", document.pk)
"""


def made(run: Run, name: str) -> str:
    """Make a handbook; return the number of its document."""
    return run.does(A_HANDBOOK.replace("NAME", name)).rsplit("number ", 1)[1].split()[0]


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "de-DE")])
def test_proposed_courses_fit_every_screen(browser: Browser, quoting: Run, scheme: str, locale: str) -> None:
    number = made(quoting, "LA" if scheme == "light" else "LB")
    pages = {
        "proposals": f"/admin/knowledge/course/documents/{number}/",
        "documents": "/admin/knowledge/course/documents/",
        "document": f"/admin/knowledge/document/{number}/change/",
        "list": "/admin/knowledge/course/",
    }
    found = {}
    for width in (390, 768, 1440):
        page = administrator(browser, quoting, locale, scheme, width)  # type: ignore[arg-type]
        for name, path in pages.items():
            found[f"{name} at {width}"] = faults(page, path)
            ARTEFACTS.mkdir(exist_ok=True)
            if name == "proposals":
                page.locator(".proposal__facts summary").first.click()
            picture: Path = ARTEFACTS / f"courses-{name}-{width}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)
        page.context.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_courses_are_accepted_with_one_press(browser: Browser, quoting: Run) -> None:
    page = administrator(browser, quoting, "en-GB", "light", 1440)
    page.goto(f"/admin/knowledge/document/{made(quoting, 'LC')}/change/")
    page.get_by_role("link", name="Look at them and choose").click()
    page.get_by_role("checkbox", name="Meadows").first.uncheck()
    page.get_by_role("button", name="Accept the ticked courses").click()
    expect(page.get_by_text("6 courses are new.")).to_be_visible()
    page.context.close()
