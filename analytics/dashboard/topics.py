"""The topics that a member of staff may know of: the name of any other one is a question of few people."""

import datetime

from django.db.models import Q
from django.utils import timezone

from analytics.dashboard.rankings import Ranking, rank
from analytics.dashboard.visibility import View
from analytics.models import Gap, Topic, TopicCount
from analytics.periods import Period, Step
from core.access import Staff

VIEW_TOPIC = "analytics.view_topic"
#: No figures are kept for longer, and so many topics are named: a university has some hundreds.
EVER, MOST = datetime.timedelta(days=3_660), 200
#: Topics that staff named or pinned.
KEPT = Q(is_pinned=True) | Q(named_by=Gap.NamedBy.STAFF)


def topics_to_name(by: Staff) -> list[Topic]:
    """Return topics about enough people, and those that staff named or pinned, by name: two queries."""
    if not by.has_perm(VIEW_TOPIC):
        return []
    today = timezone.localdate()
    ever = View(Period(today - EVER, today), Step.MONTH, by)
    # A view of everything has no wider one: what may be ranked has enough people.
    asked = rank(TopicCount.objects.all(), ever, Ranking("topic", Topic.objects.values("name"), limit=MOST))
    topics = Topic.objects.visible_to(by).filter(KEPT | Q(pk__in=[row.pk for row in asked]), merged_into=None)
    found = topics.defer("centroid").select_related("assistant")
    return sorted(found, key=lambda topic: topic.title.casefold())
