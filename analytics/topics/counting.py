"""Counts topics by day and month, as `analytics.counts` counts the rest; what is frozen stays."""

from collections.abc import Collection

from django.conf import settings
from django.db import connection, transaction

#: All of these are made of the code's own parts. Days whose conversations may be deleted by now.
IS_FROZEN = """EXISTS (
    SELECT FROM analytics_frozencounts AS frozen
    WHERE frozen.assistant_id IS NOT DISTINCT FROM {of}.assistant_id AND frozen.before > {of}.day
)"""
CHOSEN = "(%(topics)s::bigint[] IS NULL OR topic_id = ANY(%(topics)s))"
SUMS = "answers, answered, handed_over, thumbs_up, thumbs_down, visitors, newcomers, newcomers_up, newcomers_down"
DAYS = f"""
INSERT INTO analytics_topiccount (span, day, assistant_id, site_id, language, topic_id, busiest, {SUMS})
SELECT 'day', day, assistant_id, site_id, language, topic_id, count(DISTINCT visitor_id),
    count(*), count(*) FILTER (WHERE status = 'complete'), count(*) FILTER (WHERE handed_over),
    count(*) FILTER (WHERE value = 1), count(*) FILTER (WHERE value = -1), count(DISTINCT visitor_id),
    count(*) FILTER (WHERE is_new AND nth = 1),
    count(*) FILTER (WHERE is_new AND value = 1 AND nth_rated = 1),
    count(*) FILTER (WHERE is_new AND value = -1 AND nth_rated = 1)
FROM (
    SELECT *,
        row_number() OVER (PARTITION BY topic_id, visitor_id, is_new ORDER BY asked_at, id) AS nth,
        row_number() OVER (PARTITION BY topic_id, visitor_id, is_new, value ORDER BY asked_at, id) AS nth_rated
    FROM (
        SELECT question.id, placed.topic_id, conversation.assistant_id, conversation.site_id, question.language,
            conversation.visitor_id, question.created_at AS asked_at, answer.status, feedback.value,
            (question.created_at AT TIME ZONE %(zone)s)::date AS day,
            (question.created_at AT TIME ZONE %(zone)s)::date
                = (visitor.consented_at AT TIME ZONE %(zone)s)::date AS is_new,
            EXISTS (
                SELECT FROM chat_case AS office
                WHERE office.about_id = answer.id AND office.state NOT IN ('watching', 'told')
            ) AS handed_over
        FROM analytics_topicquestion AS placed
        JOIN chat_message AS question ON question.id = placed.message_id
        JOIN chat_message AS answer ON answer.question_id = question.id
        JOIN chat_conversation AS conversation ON conversation.id = question.conversation_id
        JOIN chat_visitor AS visitor ON visitor.id = conversation.visitor_id
        LEFT JOIN chat_feedback AS feedback ON feedback.message_id = answer.id
    ) AS asked
) AS counted
WHERE NOT {IS_FROZEN.format(of="counted")} AND {CHOSEN}
GROUP BY day, assistant_id, site_id, language, topic_id
"""  # noqa: S608
MONTHS = f"""
INSERT INTO analytics_topiccount (span, day, assistant_id, site_id, language, topic_id, busiest, {SUMS})
SELECT 'month', date_trunc('month', day)::date AS month, assistant_id, site_id, language, topic_id, max(busiest),
    {", ".join(f"sum({name})" for name in SUMS.split(", "))}
FROM analytics_topiccount WHERE span = 'day' AND {CHOSEN} GROUP BY month, assistant_id, site_id, language, topic_id
"""  # noqa: S608


CLEAR = f"""
DELETE FROM analytics_topiccount AS old WHERE (span = 'month' OR NOT {IS_FROZEN.format(of="old")}) AND {CHOSEN}
"""  # noqa: S608


@transaction.atomic
def count_topics(topics: Collection[int] | None = None) -> None:
    """Count all days again whose conversations are there, and sum the months: three statements.

    `topics` are the ids of those to count; None counts all.
    """
    parameters = {"zone": settings.TIME_ZONE, "topics": None if topics is None else list(topics)}
    with connection.cursor() as cursor:
        for statement in (CLEAR, DAYS, MONTHS):
            cursor.execute(statement, parameters)
