"""All addresses below `api/staff/v1/`."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from analytics.rest.evaluations import EvaluationRunViewSet, EvaluationSetViewSet
from analytics.rest.figures import FigureViewSet
from analytics.rest.gaps import GapViewSet
from analytics.rest.reports import ReportExportViewSet, ReportViewSet
from analytics.rest.reviews import ReviewViewSet
from chat.rest import ConversationViewSet
from faqs.rest.faqs import FAQViewSet
from knowledge.rest.documents import DocumentViewSet
from marcelcms.rest import documentation  # noqa: F401 (tells how tokens are sent)
from marcelcms.rest.elsewhere import nowhere

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
    "reports": ReportViewSet,
    "report-exports": ReportExportViewSet,
}.items():
    router.register(name, viewset, basename=name)

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("", include(router.urls)),
    re_path("", nowhere),
]
