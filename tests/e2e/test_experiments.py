"""Staff before an experiment: set up, running, decided and ended by a guard rail, in Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import ARTEFACTS, start
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
EXPERIMENTS = """
import datetime
from django.utils import timezone
from analytics.experiments.services import describe_arms
from analytics.models import ExperimentCount
from chat.models import Assistant, Experiment
now = timezone.now()
made = {}
for name, state, ending, rule, other in (
    ("draft", "draft", "", "sequential", 0), ("running", "running", "", "fixed", 300),
    ("better", "ended", "other", "fixed", 330), ("guarded", "ended", "abstained", "sequential", 200),
):
    tried = Experiment.objects.create(
        assistant=Assistant.objects.first(), name=f"More evidence ({name})", state=state, ending=ending, rule=rule,
        evidence_needed=0.5, needed=2000 if name == "running" else 800, baseline=0.7,
        started_at=now - datetime.timedelta(days=20), ended_at=now if state == "ended" else None,
    )
    Experiment.objects.filter(pk=tried.pk).update(began_with=describe_arms(tried))
    if other:
        for arm, good in (("now", 280), ("other", other)):
            ExperimentCount.objects.create(
                experiment=tried, day=now.date() - datetime.timedelta(days=5), arm=arm, conversations=400,
                newcomers=200, helped=good, answered=good + 20, abstained=380 - good, disliked=12, failed=1,
            )
    made[name] = tried.pk
print(*made.values())
"""


@pytest.fixture(scope="module")
def pages() -> Iterator[tuple[Run, dict[str, str]]]:
    """Provide the stack with an experiment in each state."""
    with start() as run:
        keys = run.does(EXPERIMENTS).split()
        names = ("draft", "running", "better", "guarded")
        paths = {name: f"/admin/chat/experiment/{key}/change/" for name, key in zip(names, keys, strict=True)}
        yield run, {"list": "/admin/chat/experiment/", **paths}


@pytest.mark.parametrize(
    ("width", "scheme", "locale"),
    [(360, "dark", "de-DE"), (768, "light", "de-DE"), (1440, "light", "en-GB"), (1440, "dark", "en-GB")],
)
def test_the_pages_fit_and_have_no_barrier_that_a_machine_finds(
    browser: Browser, pages: tuple[Run, dict[str, str]], width: int, scheme: str, locale: str
) -> None:
    run, paths = pages
    page = administrator(browser, run, locale, "dark" if scheme == "dark" else "light", width)
    found = {}
    for name, path in paths.items():
        found[name] = faults(page, path)
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"experiment-{name}-{width}-{scheme}-{locale[:2]}.png", full_page=True)
    page.context.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_what_won_is_adopted_and_taken_back_in_one_click_and_what_runs_is_ended_in_one(
    browser: Browser, pages: tuple[Run, dict[str, str]]
) -> None:
    run, paths = pages
    page = administrator(browser, run, "en-GB", "light", 1440)
    page.goto(paths["running"])
    page.get_by_role("button", name="End it and go back for all").click()
    expect(page.get_by_text("Ended by staff before it was decided.")).to_be_visible()
    page.goto(paths["better"])
    page.get_by_role("button", name="Adopt the other settings").click()
    expect(page.get_by_text("The assistant answers everybody with these settings")).to_be_visible()
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "experiment-adopted.png", full_page=True)
    page.get_by_role("button", name="Take back: the settings from before").click()
    expect(page.get_by_text("The assistant answers everybody with its settings from before again.")).to_be_visible()
    expect(page.get_by_role("button", name="Adopt the other settings")).to_be_visible()
    page.context.close()
