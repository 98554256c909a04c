from django.urls import path, re_path

from chat.openai_api.views import chat_completions, model_detail, model_list, not_found

urlpatterns = [
    path("models", model_list, name="openai-models"),
    path("models/<str:slug>", model_detail, name="openai-model"),
    path("chat/completions", chat_completions, name="openai-chat"),
    re_path(r"", not_found, name="openai-not-found"),
]
