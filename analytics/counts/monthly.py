"""A month as the sum of its days, so that two years are read as 24 rows; `busiest` is that of the busiest of them."""

import datetime

from django.db import connection

#: Columns that say whose a row is, those that are added up, and arrays that are, element by element.
SUMMED = {
    "analytics_usagecount": (
        (),
        (
            *("visitors", "newcomers", "conversations", "messages"),
            *("questions", "answered", "abstained", "failed", "stopped", "asked_back"),
            *("thumbs_up", "thumbs_down", "ratings", "stars", "prompt_tokens", "answer_tokens"),
            *("sentences_shown", "sentences_quoted", "sentences_left_out", "held_back_rightly", "held_back_wrongly"),
            *("confirmed", "silent", "rephrased", "disliked", "unanswered", "handed_over", "abandoned"),
            *("contact_email", "contact_phone", "contact_page"),
        ),
        ("reasons", "newcomers_by_reason", "hours", "newcomers_by_hour", "first_token", "total"),
    ),
    "analytics_documentcount": (("document_id",), ("visitors", "newcomers", "answers"), ()),
    "analytics_faqcount": (
        ("faq_id",),
        ("visitors", "newcomers", "answers", "thumbs_up", "thumbs_down", "newcomers_up", "newcomers_down"),
        (),
    ),
    "analytics_casecount": (("office_id",), ("opened", "said", "helped"), ("until_reply", "until_closed")),
}
#: Tables that say how many people a day had at most.
OF_PEOPLE = frozenset(SUMMED) - {"analytics_casecount"}
WHOSE = ("assistant_id", "site_id", "language")


def sum_month(first: datetime.date) -> None:
    """Replace the month's rows by the sums of its days'; `first` is its first day."""
    after = (first + datetime.timedelta(days=31)).replace(day=1)
    with connection.cursor() as cursor:
        for table, (of, columns, arrays) in SUMMED.items():
            cursor.execute(f"DELETE FROM {table} WHERE span = 'month' AND day = %s", [first])
            keys = ", ".join((*WHOSE, *of))
            names = ", ".join((*WHOSE, *of, *columns, *arrays))
            sums = ", ".join(f"sum({column})" for column in columns)
            busiest, most = ("busiest, ", "max(busiest), ") if table in OF_PEOPLE else ("", "")
            added = "".join(f", {_sum_array(table, array, (*WHOSE, *of))}" for array in arrays)
            cursor.execute(
                f"INSERT INTO {table} (span, day, {busiest}{names})"
                f" SELECT 'month', %(first)s, {most}{keys}, {sums}{added}"
                f" FROM {table} AS whole WHERE span = 'day' AND day >= %(first)s AND day < %(after)s GROUP BY {keys}",
                {"first": first, "after": after},
            )


def _sum_array(table: str, array: str, keys: tuple[str, ...]) -> str:
    """Element by element; NULL keys (a deleted assistant) are one group, as in GROUP BY."""
    same = " AND ".join(f"part.{key} IS NOT DISTINCT FROM whole.{key}" for key in keys)
    return (
        f"(SELECT array_agg(added ORDER BY place) FROM (SELECT place, sum(value) AS added FROM {table} AS part,"
        f" unnest(part.{array}) WITH ORDINALITY AS element(value, place) WHERE part.span = 'day'"
        f" AND part.day >= %(first)s AND part.day < %(after)s AND {same} GROUP BY place) AS sums)"
    )
