"""All addresses below `api/staff/v1/`."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from analytics.dashboard.rest import FigureViewSet
from analytics.evaluation.rest import EvaluationRunViewSet, EvaluationSetViewSet
from analytics.gaps.rest import GapViewSet
from analytics.reports.rest.exports import ReportExportViewSet
from analytics.reports.rest.reports import ReportViewSet
from analytics.reviews.rest import ReviewViewSet
from analytics.topics.rest import TopicViewSet
from chat.rest.conversations import ConversationViewSet
from faqs.rest.views import FAQViewSet
from knowledge.rest.documents import DocumentViewSet
from marcelcms.rest import openapi  # noqa: F401 (tells how tokens are sent)
from marcelcms.rest.errors import nowhere

app_name = "staff-api"

router = SimpleRouter()
for name, viewset in {
    "documents": DocumentViewSet,
    "faqs": FAQViewSet,
    "gaps": GapViewSet,
    "reviews": ReviewViewSet,
    "conversations": ConversationViewSet,
    "evaluation-sets": EvaluationSetViewSet,
    "evaluation-runs": EvaluationRunViewSet,
    "figures": FigureViewSet,
    "topics": TopicViewSet,
    "reports": ReportViewSet,
    "report-exports": ReportExportViewSet,
}.items():
    router.register(name, viewset, basename=name)

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("", include(router.urls)),
    re_path("", nowhere),
]
