"""From an abstention to an office's reply by mail, and to a published answer that three students get; then erasure."""

import re
from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.analytics.inbox.mail_server import MailServer, mail_server
from tests.chat.cases.mail.conftest import STUDENT
from tests.e2e.conftest import keep, start
from tests.e2e.test_chat_page import ask, enter, finished, test_id
from tests.e2e.traces import find_in_files, find_traces, save_valkey
from tests.fakes.imap import PASSWORD, USER, MailboxServer
from tests.runtime.stack import Run
from tests.servers import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: As the first student asked it in the chat, with a word that nobody else wrote.
ASKED, ITS_WORD = "Where can I store my gilded canoe during lectures?", "gilded"
QUESTION = "Where can I store my canoe during lectures?"
PARAPHRASE = "Is there a place to store my canoe while lectures go on?"
IN_VAIN = "Where may I store a canoe during a lecture?"
ANSWER = "In the boat rack behind the Harbour Hall, between 8 am and 6 pm."
#: What else only the first student wrote, in the case and by mail.
LEFT, MAILED = f"{QUESTION} I am Ada Quillfeather.", "Five metres. Ada Ottolenghi Quillfeather"
NAMES = ("Quillfeather", "Ottolenghi", ITS_WORD, STUDENT)
#: The first versions of the answer that staff published: they begin with the question in the chat, without names.
MADE_OF_IT = {f"faqs_faqversion: {ITS_WORD}", f"knowledge_documentrevision: {ITS_WORD}"}
THIRD = "third@students.example"
PATIENT = 120_000
READ_MAILS = "from chat.tasks import read_case_mails; read_case_mails()"
SEND_MAILS = "from chat.tasks import send_case_mails; send_case_mails()"
WAITING = "from chat.models import CaseMail; print(CaseMail.objects.waiting().count())"
EMBED = "from analytics.tasks import embed_asked_questions; embed_asked_questions()"
NIGHT = "from analytics.tasks import apply_retention; apply_retention()"
EXPORT = """
from django.contrib.auth.models import User
from analytics.reports.definition import Definition, Format
from analytics.reports.services import queue_export
definition = Definition(columns=("question",), format=Format.CSV)
queue_export(name="Questions", definition=definition, by=User.objects.get(username="admin"))
"""
CONVERSATION = (
    "from chat.models import Case; print(Case.objects.get(question__contains='Quillfeather').conversation_id)"
)


@pytest.fixture(scope="module")
def smtp() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def imap() -> Iterator[MailboxServer]:
    server = MailboxServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def mailing(smtp: MailServer, imap: MailboxServer) -> Iterator[Run]:
    """Provide the stack with both mail servers."""
    with start(
        EMAIL_URL=f"smtp://127.0.0.1:{smtp.port}",
        DEFAULT_FROM_EMAIL="Lindi <chat@uni.example>",
        CASE_MAIL_ADDRESS="replies@uni.example",
        IMAP_URL=f"imap://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{imap.port}",
    ) as run:
        yield run


@pytest.fixture
def office(browser: Browser, mailing: Run) -> Iterator[Page]:
    """Provide the page of a member of staff who has logged in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{mailing.port}/admin/login/?next=/admin/to-do/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(mailing.password)
    page.get_by_role("button", name="Log in").click()
    yield page
    context.close()


def visitor(browser: Browser, run: Run) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB").new_page()
    enter(page, run)
    return page


def to_student(smtp: MailServer, address: str = STUDENT) -> list[EmailMessage]:
    return [mail for mail in smtp.mails if mail["To"] == address]


def confirm(page: Page, mail: EmailMessage, run: Run) -> None:
    """Follow the link of the first mail, in another tab."""
    link = re.search(r"/mails/\S+", text_of(mail))
    assert link
    mailbox = page.context.new_page()
    mailbox.goto(f"http://127.0.0.1:{run.port}{link[0]}")
    mailbox.get_by_role("button", name="Confirm address").click()
    expect(mailbox.get_by_text("The address is confirmed")).to_be_visible()
    mailbox.close()


def text_of(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body
    text: str = body.get_content()
    return text


def mail_from(sender: str, answered: EmailMessage, text: str, *, to: str = "") -> EmailMessage:
    """Return what a mail program sends as an answer."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, to or answered["Reply-To"], f"Re: {answered['Subject']}"
    mail["Message-ID"], mail["In-Reply-To"] = make_msgid(domain="students.example"), answered["Message-ID"]
    mail.set_content(text)
    return mail


def files_with(run: Run, names: Sequence[str]) -> set[str]:
    """Return the folders of the run's files in which a name stands, and the name."""
    found = (each.rsplit(": ", 1) for each in find_in_files(run.state, names))
    return {f"{Path(path).relative_to(run.state).parts[0]}: {name}" for path, name in found}


def test_from_an_abstention_to_three_answered_students_and_no_trace_of_the_first(
    page: Page, office: Page, browser: Browser, mailing: Run, smtp: MailServer, imap: MailboxServer
) -> None:
    # The first student leaves the question with an office, and wants replies by mail too.
    enter(page, mailing)
    answer = finished(ask(page, ASKED), "abstained")
    test_id(answer, "ask-person").click()
    test_id(page, "handover-question").fill(LEFT)
    test_id(page, "handover-email").fill(STUDENT)
    test_id(page, "send-to-office").click()
    card = test_id(page, "case")
    expect(card).to_have_attribute("data-state", "open")
    wait_until(lambda: len(to_student(smtp)) == 1, 30)
    confirm(page, to_student(smtp)[0], mailing)
    expect(test_id(card, "case-mails")).to_contain_text("Replies go to your e-mail address too.")
    # A third one asks in vain as well, and wishes to be told, by mail too.
    third = visitor(browser, mailing)
    finished(ask(third, IN_VAIN), "abstained")
    test_id(third, "wish").click()
    expect(test_id(third, "case")).to_have_attribute("data-state", "watching")
    test_id(third, "case-address-open").click()
    test_id(third, "case-address").fill(THIRD)
    test_id(third, "case-address-save").click()
    wait_until(lambda: len(to_student(smtp, THIRD)) == 1, 30)
    confirm(third, to_student(smtp, THIRD)[0], mailing)

    # The office replies; the student reads it in the widget and by mail, and answers by mail.
    office.reload()
    office.get_by_role("link", name=re.compile("Quillfeather")).click()
    case_page = office.url
    keep(office, "walk-case")
    office.get_by_label("Your reply").fill("How long is it?")
    office.get_by_role("button", name="Ask back").click()
    expect(office.get_by_text("Your reply was sent.")).to_be_visible()
    expect(card.locator('[data-by="office"]')).to_contain_text("How long is it?", timeout=15_000)
    wait_until(lambda: len(to_student(smtp)) == 2, 30)
    asked = to_student(smtp)[-1]
    assert "How long is it?" in text_of(asked)
    by_mail = mail_from(STUDENT, asked, f"{MAILED}\n\n> How long is it?\n")
    imap.deliver(by_mail)
    mailing.does(READ_MAILS)
    expect(card.locator('[data-by="student"]')).to_have_count(2, timeout=15_000)
    office.reload()
    expect(office.get_by_text("Five metres.")).to_be_visible()
    office.get_by_label("Your reply").fill(ANSWER)
    office.get_by_role("button", name="Send and close").click()
    expect(office.get_by_text("Your reply was sent.")).to_be_visible()
    expect(card).to_have_attribute("data-state", "closed", timeout=15_000)
    wait_until(lambda: len(to_student(smtp)) == 3, 30)
    test_id(card, "case-helped-yes").click()

    # The reply becomes a published answer, which a second student gets in other words.
    office.get_by_role("button", name="Make your reply an FAQ").click()
    expect(office.get_by_text("A draft FAQ was made of your reply.")).to_be_visible()
    office.get_by_label("Question:", exact=True).fill(QUESTION)
    office.locator("#id_status").select_option("published")
    office.get_by_role("button", name="Save", exact=True).click()
    expect(office.locator(".messagelist .success").first).to_be_visible()
    office.wait_for_timeout(3_000)  # a worker indexes the answer
    # Beside a reply it is suggested from now on, and pages are quoted below it.
    office.goto(case_page)
    reply = office.get_by_label("Your reply")
    office.get_by_role("button", name=f"Insert the answer of {QUESTION}").click()
    expect(reply).to_have_value(f"{ANSWER}\n")
    office.get_by_role("button", name=re.compile("^Quote ")).first.click()
    expect(reply).to_have_value(re.compile(rf"^{re.escape(ANSWER)}\n\n> .+\n>\n> ", re.DOTALL))
    expect(reply).to_be_focused()
    keep(office, "walk-suggestions")
    second = visitor(browser, mailing)
    expect(test_id(finished(ask(second, PARAPHRASE)), "office")).to_contain_text(ANSWER)
    # The third is told, once, in the chat and by mail, and reads it.
    told = test_id(third, "case")
    expect(told).to_have_attribute("data-state", "told", timeout=PATIENT)
    expect(told.locator('[data-by="assistant"]')).to_have_count(1)
    wait_until(lambda: len(to_student(smtp, THIRD)) == 2, 30)
    assert "There is an answer to your question now" in text_of(to_student(smtp, THIRD)[-1])
    assert QUESTION in text_of(to_student(smtp, THIRD)[-1])
    test_id(third, "wish-again").click()
    again = third.locator('[data-test="message"][data-role="assistant"]').last
    expect(test_id(finished(again), "office")).to_contain_text(ANSWER)
    test_id(told, "case-helped-yes").click()
    keep(third, "walk-told")

    # Under way: a reply waits for a busy mail server, two mails of the first were refused, a report was made.
    smtp.refused[STUDENT] = "451 later"
    office.goto(case_page)
    office.get_by_label("Your reply").fill("There is a second rack by now.")
    office.get_by_role("button", name="Send the reply").click()
    expect(office.get_by_text("Your reply was sent.")).to_be_visible()
    imap.deliver(mail_from("ada@home.example", asked, MAILED))
    imap.deliver(mail_from(STUDENT, asked, MAILED, to="replies@uni.example"))
    mailing.does(READ_MAILS)
    wait_until(lambda: len(imap.mails("Refused")) == 2, 90)
    assert all("Ottolenghi" in mail.get_content() for mail in imap.mails("Refused"))
    mailing.does(EMBED)
    mailing.does(EXPORT)
    wait_until(lambda: f"media: {ITS_WORD}" in files_with(mailing, NAMES), 60)
    wait_until(lambda: files_with(mailing, ["code=451"]) != set(), 30)
    assert mailing.does(WAITING).strip() == "1"
    save_valkey(mailing)

    # All of that is found.
    conversation, texts = mailing.does(CONVERSATION).strip(), [LEFT, MAILED, ASKED]
    known, tables, vectors = find_traces(mailing, [*NAMES, conversation], [*texts, QUESTION])
    assert {
        f"chat_message: {ITS_WORD}",
        "chat_case: Quillfeather",
        "chat_casemessage: Ottolenghi",
        f"chat_caseaddress: {STUDENT}",
        f"vectors of analytics_askedvector: {ASKED}",
        f"vectors of faqs_faqvector: {QUESTION}",
        f"marcelcms:log:{conversation}: {ITS_WORD}",
        f"marcelcms:log:{conversation}: Quillfeather",
        f"marcelcms:log:{conversation}: Ottolenghi",
    } <= set(known)
    assert {f"media: {ITS_WORD}", f"valkey: {ITS_WORD}", "valkey: Ottolenghi"} <= files_with(mailing, NAMES)
    assert (tables > 50, vectors > 500) == (True, True)

    # The first erases everything: nothing that only they wrote is left, and nobody is mailed any more.
    test_id(page, "settings").click()
    test_id(page, "erase").click()
    test_id(page, "confirm").click()
    expect(test_id(page, "consent")).to_be_visible()
    smtp.refused.clear()
    mailing.does(SEND_MAILS)
    assert mailing.does(WAITING).strip() == "0"
    assert (len(to_student(smtp)), len(to_student(smtp, THIRD))) == (3, 2)
    mailing.does(READ_MAILS)
    wait_until(lambda: imap.mails("Refused") == [], 90)
    # Who answers by mail after that is told, and the mail is deleted.
    imap.deliver(mail_from(STUDENT, asked, MAILED))
    mailing.does(READ_MAILS)
    wait_until(lambda: len(to_student(smtp)) == 4, 90)
    assert "Your question was deleted." in to_student(smtp)[-1].get_content()
    wait_until(lambda: imap.mails() == imap.mails("Refused") == [], 30)
    left = set(find_traces(mailing, [*NAMES, conversation], texts)[0])
    # A mark, for an hour, by which an answer that is still being written there notices and is not saved.
    assert left - MADE_OF_IT <= {f"marcelcms:gone:{conversation}: {conversation}"}
    # The night has Valkey's file written anew.
    assert files_with(mailing, NAMES) <= {f"valkey: {name}" for name in NAMES}
    mailing.does(NIGHT)
    wait_until(lambda: files_with(mailing, NAMES) == set(), 30)
    for each in (second, third):
        each.context.close()
