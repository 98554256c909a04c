"""Counts what a curator presses on a way through the admin, and notes where the way ends."""

import time

from playwright.sync_api import Browser, Locator, Page, Response, expect

from tests.runtime.stack import Run

#: A page says so where what was sent is refused, or where nothing goes on from.
REFUSED = ".errornote, .errorlist li"


class Curator:
    """Presses what is named, and counts it; a page that cannot be opened or a form that is refused is a dead end."""

    def __init__(self, page: Page) -> None:
        self.page, self.pressed, self.seconds, self._since = page, 0, 0.0, time.monotonic()
        self.dead_ends: list[str] = []
        page.on("response", self._look)

    def _look(self, response: Response) -> None:
        if response.request.is_navigation_request() and response.status >= 400:
            self.dead_ends.append(f"{response.status} {response.url}")

    def follow(self, link: str) -> None:
        """Open a link that stands outside the admin, as in an e-mail."""
        self.page.goto(link)
        self.pressed += 1

    def press(self, what: Locator) -> None:
        what.click()
        self.pressed += 1
        self.page.wait_for_load_state()
        self.dead_ends += self.page.locator(REFUSED).all_inner_texts()

    def choose(self, what: Locator, value: str) -> None:
        what.select_option(value)
        self.pressed += 1

    def waits(self) -> None:
        """Leave out what follows until `goes_on`: work in the background."""
        self.seconds += time.monotonic() - self._since

    def goes_on(self) -> None:
        self._since = time.monotonic()

    def arrives(self, most: int) -> None:
        """Check that the way had no dead end and took at most so many presses, and print both figures."""
        print(f"{self.pressed} presses, {self.seconds:.1f} s")
        assert self.dead_ends == []
        assert self.pressed <= most


def invite(browser: Browser, run: Run, first_name: str, *, role: str = "Curator") -> str:
    """Return the link that an administrator gets for a new colleague; this installation sends no e-mail."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    staff = context.new_page()
    staff.goto(f"http://127.0.0.1:{run.port}/admin/login/?next=/admin/invite/")
    staff.get_by_label("Username").fill("admin")
    staff.get_by_label("Password").fill(run.password)
    staff.get_by_role("button", name="Log in").click()
    address = f"{first_name.lower()}@uni.example"
    for label, value in (("First name", first_name), ("Last name", "Berg"), ("E-mail address", address)):
        staff.get_by_label(label).fill(value)
    staff.locator(f'input[name="role"][value="{role}"]').check()
    staff.get_by_label("Works for the whole university").check()
    staff.get_by_role("button", name="Invite").click()
    link = staff.get_by_label("Link to choose a password").input_value()
    context.close()
    return link


def sign_in(curator: Curator, link: str) -> None:
    """Choose a password by the link of the invitation: two presses."""
    curator.follow(link)
    for label in ("New password", "New password confirmation"):
        curator.page.get_by_label(label, exact=True).fill("Lindental-7-bridges")
    curator.press(curator.page.get_by_role("button", name="Save and sign in"))
    expect(curator.page.get_by_text("Your password is saved, and you are signed in.")).to_be_visible()
