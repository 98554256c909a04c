"""What a page's head says of it, and what only seems to."""

import pytest

from tests.knowledge.ingest.html.test_convert import page

WITHOUT_SCRIPTS = (
    '<meta http-equiv="refresh" content="0; url=/nojs"><meta name=robots content=noindex>'
    "<meta name=og:title content=Static><link rel=canonical href=/nojs><base href=/nojs/>"
)


@pytest.mark.parametrize("around", ["noscript", "template"])
def test_what_a_page_says_to_browsers_without_scripts_is_not_said_of_the_page(around: str) -> None:
    head = f"<head><{around}>{WITHOUT_SCRIPTS}</{around}><title>Dates</title></head>"
    read = page(f"{head}<body><p>The dates of the term are on <a href=dates>a page of their own</a>.</p></body>")
    assert (read.title, read.canonical, read.robots, read.open_graph) == ("Dates", "", frozenset(), {})
    assert read.outgoing == ("https://www.uni.example/studium/dates",)


def test_what_a_page_says_of_itself_counts_beside_what_it_says_to_browsers_without_scripts() -> None:
    own = "<meta name=robots content=nofollow><link rel=canonical href=/dates>"
    read = page(f"<head><noscript>{WITHOUT_SCRIPTS}</noscript>{own}</head><body><p>The dates of the term</p></body>")
    assert (read.canonical, read.robots) == ("https://www.uni.example/dates", {"nofollow"})


def test_links_for_readers_without_scripts_are_followed() -> None:
    read = page("<p>The dates of the term</p><noscript><a href=/all>All pages</a></noscript>")
    assert read.outgoing == ("https://www.uni.example/all",)
