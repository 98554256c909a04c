"""Names of files, as servers and addresses give them."""

import pytest
from scrapy.http import Headers

from knowledge.ingest.crawler.response import read_name

ADDRESS = "https://www.uni.example/files/Plan%20A.pdf?id=7"


@pytest.mark.parametrize(
    ("disposition", "expected"),
    [
        ('attachment; filename="Plan B.pdf"', "Plan B.pdf"),
        ("inline; filename=plan.pdf; size=7", "plan.pdf"),
        ("attachment; filename=\"plan.pdf\"; filename*=UTF-8''Pr%C3%BCfungsplan.pdf", "Prüfungsplan.pdf"),
        ("attachment; filename*=iso-8859-1'de'Pr%FCfungsplan.pdf", "Prüfungsplan.pdf"),
        ('attachment; filename="Prüfungsplan.pdf"', "Prüfungsplan.pdf"),
        ('attachment; filename="../../etc/plan.pdf"', "plan.pdf"),
        ('attachment; filename="C:\\\\temp\\\\plan.pdf"', "plan.pdf"),
        ('attachment; filename=""', "Plan A.pdf"),
        ("attachment", "Plan A.pdf"),
        ("", "Plan A.pdf"),
    ],
)
def test_a_file_has_the_name_that_its_server_gives_or_that_of_its_address(disposition: str, expected: str) -> None:
    assert read_name(Headers({"Content-Disposition": disposition.encode()}), ADDRESS) == expected


def test_an_address_may_name_no_file() -> None:
    assert read_name(Headers(), "https://www.uni.example/") == ""
