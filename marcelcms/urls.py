from django.contrib import admin
from django.urls import include, path

from chat.admin import try_question_view
from chat.api import api
from chat.views import chat_page
from marcelcms import health

urlpatterns = [
    path("", chat_page, name="chat"),
    path("api/v1/", api.urls),
    path("admin/try/", admin.site.admin_view(try_question_view), name="try-question"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("health/live", health.live, name="health-live"),
]
