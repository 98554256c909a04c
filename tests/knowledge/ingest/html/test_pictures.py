"""Pictures that a page shows instead of words, and links to pictures."""

import pytest

from knowledge.ingest.html import UnreadablePage
from tests.knowledge.ingest.html.test_convert import page

PLAN = "https://www.uni.example/plan.png"
WORDS = "<p>What students need to know about the plan of their studies, in words.</p>" * 6


@pytest.mark.parametrize(
    "body",
    [
        "<main><h1>Plan of study</h1><img src=/plan.png></main>",
        "<main><h1>Plan</h1><p>As of 2026</p><a href=/plan.png><img src=/small.png></a></main>",
        "<h1>Plan</h1><img src=/plan.png width=900 height=700><img src=/rss.png width=16 height=16>",
        "<main><h1>Plan</h1><img src='data:image/gif;base64,R0' data-src=/plan.png></main>",
        "<header><img src=/logo.png></header><main><h1>Plan</h1><img src=/plan.png></main><footer>Imprint</footer>",
    ],
)
def test_a_page_with_few_words_says_what_its_picture_says(body: str) -> None:
    assert page(body).pictures == (PLAN,)


@pytest.mark.parametrize(
    "body",
    [
        f"<main><h1>Plan</h1>{WORDS}<img src=/plan.png></main>",
        "<main><h1>Contact</h1><p>Room 7</p><img src=/portrait.jpg width=180 height=240></main>",
        "<main><h1>Photos</h1>" + "".join(f"<img src=/{number}.jpg>" for number in range(9)) + "</main>",
        "<main><h1>Plan</h1><img src=/plan.svg><img src=javascript:alert(1)><img></main>",
        "<main><h1>Plan</h1><div hidden><img src=/plan.png></div></main>",
    ],
)
def test_other_pictures_illustrate(body: str) -> None:
    assert page(body).pictures == ()


def test_a_page_that_is_nothing_but_a_picture_names_it() -> None:
    with pytest.raises(UnreadablePage, match=f"nothing itself but shows a picture: {PLAN}") as caught:
        page("<title>Plan</title><main><img src=/plan.png alt=''></main>")
    assert caught.value.pictures == (PLAN,)


def test_a_link_to_a_picture_is_followed_where_words_name_it_and_not_from_a_gallery() -> None:
    read = page(f"{WORDS}<a href=/plan.png>The plan (PNG)</a><a href=/hall.jpg><img src=/small.jpg alt=Hall></a>")
    assert read.outgoing == (PLAN,)
