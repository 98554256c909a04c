from django.contrib import admin
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import set_language

from analytics.admin import (
    faq_neighbourhood_view,
    language_model_view,
    model_switch_view,
    to_do_view,
    trial_progress_view,
    trial_start_view,
    trial_stop_view,
)
from analytics.contradictions.admin import contradiction_view, contradictions_view
from analytics.dashboard.admin.view import dashboard_view
from analytics.inbox.admin.faq_reading import faq_reading_view
from analytics.inbox.admin.preferences import preferences_view
from analytics.promise.admin import promise_view
from analytics.quality.admin import judge_view, quality_view
from analytics.topics.admin.pages import topic_change_view, topic_view, topics_view
from chat.admin import impact_document_view, impact_list_view, try_question_view, why_answer_view
from chat.api import api
from chat.mail_views import confirm_page, stop_page
from chat.views import chat_page, site_logo, widget_frame, widget_script, widget_test
from faqs.views import answer_page
from knowledge.views import document_file, document_page
from marcelcms.accounts.invitations.views import ChoosePasswordView, invite_view, send_again_view
from marcelcms.accounts.open_sessions.views import end_all_view, end_own_view
from marcelcms.accounts.second_factor.passkey_views import passkey_options_view, passkey_remove_view, passkey_view
from marcelcms.accounts.second_factor.views import code_view, my_login_view, reset_view, setup_view
from marcelcms.accounts.sign_on.oidc.views import return_view
from marcelcms.accounts.sign_on.saml.views import answer_view, finish_view, logout_view, metadata_view
from marcelcms.accounts.sign_on.views import start_view
from marcelcms.health.views import live, ready
from marcelcms.navigation.search import search_view
from marcelcms.observability.metrics import metrics

MODEL = "admin/language-model/<int:assistant_id>"
urlpatterns = [
    path("", chat_page, name="chat"),
    path("api/v1/", api.urls),
    path("api/staff/v1/", include("marcelcms.rest.urls")),
    path("v1/", include("chat.openai_api.urls")),
    path("widget/v1.js", widget_script, name="widget-script"),
    path("widget/frame", widget_frame, name="widget-frame"),
    path("widget/test", widget_test, name="widget-test"),
    path("widget/logo/<slug:public_id>", site_logo, name="site-logo"),
    path("admin/try/", admin.site.admin_view(try_question_view), name="try-question"),
    path("admin/answers/<int:message_id>/why/", admin.site.admin_view(why_answer_view), name="why-answer"),
    path("admin/impact/", admin.site.admin_view(impact_list_view), name="impact"),
    path("admin/impact/<int:document_id>/", admin.site.admin_view(impact_document_view), name="impact-document"),
    path("admin/search/", admin.site.admin_view(search_view), name="search-everything"),
    path("admin/to-do/", admin.site.admin_view(to_do_view), name="to-do"),
    path("admin/invite/", admin.site.admin_view(invite_view), name="invite"),
    path("admin/invite/<int:user_id>/", admin.site.admin_view(send_again_view), name="invite-again"),
    path("invitation/<uidb64>/<token>/", ChoosePasswordView.as_view(), name="invitation"),
    path("second-factor/", code_view, name="second-factor"),
    path("second-factor/setup/", setup_view, name="second-factor-setup"),
    path("second-factor/passkey/", passkey_view, name="passkey"),
    path("second-factor/passkey/options/", passkey_options_view, name="passkey-options"),
    path("admin/my-login/passkey/remove/", admin.site.admin_view(passkey_remove_view), name="passkey-remove"),
    path("admin/my-login/", admin.site.admin_view(my_login_view), name="my-login"),
    path("admin/my-login/end/", admin.site.admin_view(end_own_view), name="my-sessions-end"),
    path("admin/sessions/<int:user_id>/end/", admin.site.admin_view(end_all_view), name="sessions-end"),
    path("admin/second-factor/<int:user_id>/", admin.site.admin_view(reset_view), name="second-factor-reset"),
    path("sign-on/", start_view, name="sign-on"),
    path("sign-on/return/", return_view, name="sign-on-return"),
    path("sign-on/saml/", answer_view, name="sign-on-saml"),
    path("sign-on/saml/finish/", finish_view, name="sign-on-saml-finish"),
    path("sign-on/saml/logout/", logout_view, name="sign-on-saml-logout"),
    path("sign-on/saml/metadata/", metadata_view, name="sign-on-saml-metadata"),
    path("admin/contradictions/", admin.site.admin_view(contradictions_view), name="contradictions"),
    path(
        "admin/contradictions/<int:contradiction_id>/",
        admin.site.admin_view(contradiction_view),
        name="contradiction",
    ),
    path("admin/faq-reading/<int:faq_id>/", admin.site.admin_view(faq_reading_view), name="faq-reading"),
    path("admin/inbox/preferences/", admin.site.admin_view(preferences_view), name="inbox-preferences"),
    path("admin/dashboard/", admin.site.admin_view(dashboard_view), name="dashboard"),
    path("admin/topics/", admin.site.admin_view(topics_view), name="topics"),
    path("admin/topics/<int:topic_id>/", admin.site.admin_view(topic_view), name="topic"),
    path("admin/topics/<int:topic_id>/change/", admin.site.admin_view(topic_change_view), name="topic-change"),
    path("admin/quality/", admin.site.admin_view(quality_view), name="quality"),
    path("admin/quality/judge/", admin.site.admin_view(judge_view), name="quality-judge"),
    path("admin/quality/promise/<int:assistant_id>/", admin.site.admin_view(promise_view), name="quality-promise"),
    path("admin/shadow/faq/", admin.site.admin_view(faq_neighbourhood_view), name="shadow-faq"),
    path(f"{MODEL}/", admin.site.admin_view(language_model_view), name="language-model"),
    path(f"{MODEL}/progress/", admin.site.admin_view(trial_progress_view), name="language-model-progress"),
    path(f"{MODEL}/start/", admin.site.admin_view(trial_start_view), name="language-model-start"),
    path(f"{MODEL}/stop/", admin.site.admin_view(trial_stop_view), name="language-model-stop"),
    path(f"{MODEL}/switch/", admin.site.admin_view(model_switch_view), name="language-model-switch"),
    path("admin/", admin.site.urls),
    # Exempt, because a token would be a cookie before consent; forging a choice of language does no harm.
    path("i18n/setlang/", csrf_exempt(set_language), name="set_language"),
    path("documents/<slug:digest>/<str:name>.<slug:ending>", document_file, name="document-file"),
    path("pages/<int:document_id>/", document_page, name="document-page"),
    path("answers/<int:faq_id>/<str:language>/", answer_page, name="answer-page"),
    path("mails/confirm/<str:token>/", confirm_page, name="case-mail-confirm"),
    path("mails/stop/<str:token>/", stop_page, name="case-mail-stop"),
    path("health/live", live, name="health-live"),
    path("health/ready", ready, name="health-ready"),
    path("metrics", metrics, name="metrics"),
]
