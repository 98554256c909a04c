from django.contrib import admin
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import set_language

from chat.admin import try_question_view
from chat.api import api
from chat.views import chat_page
from marcelcms import health

urlpatterns = [
    path("", chat_page, name="chat"),
    path("api/v1/", api.urls),
    path("admin/try/", admin.site.admin_view(try_question_view), name="try-question"),
    path("admin/", admin.site.urls),
    # Exempt, because a token would be a cookie before consent; forging a choice of language does no harm.
    path("i18n/setlang/", csrf_exempt(set_language), name="set_language"),
    path("health/live", health.live, name="health-live"),
]
