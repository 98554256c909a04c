"""The words that the chat page's JavaScript shows, in the language of the request."""

from django.utils.translation import gettext as _


def page_strings() -> dict[str, str]:
    """By key; the page fills the {placeholders}."""
    return {
        "you": _("You"),
        "sending": _("Sending …"),
        "not_sent": _("Not sent"),
        "looking": _("Looking through the university's pages …"),
        "queued": _("Many are asking just now. Your place in the queue: {position}"),
        "characters": _("{length} of {limit} characters"),
        # Hints below the field
        "hint_empty": _("Please type a question first."),
        "hint_too_long": _("That is {over} characters too many. Please shorten your question to {limit}."),
        "hint_busy": _("Please wait until the answer is complete, or stop it."),
        "hint_offline": _("There is no connection just now. Your text stays here; please send it again in a moment."),
        # The connection
        "state_reconnecting": _("The connection was lost. Reconnecting …"),
        "state_offline": _("You are offline. Your text stays here."),
        # Problems
        "error_generic": _("Something went wrong. Please try again."),
        "error_no_reply": _("The service does not reply. Please try again."),
        "error_session": _("The conversation could not be opened. Please try again in a moment, or reload the page."),
        "answer_failed": _("The answer could not be completed."),
        "answer_stopped": _("You stopped this answer."),
        "try_again": _("Try again"),
        "dismiss": _("Dismiss"),
        # Answers
        "notice_quoting": _("These are quotes from the university's pages, not a written answer."),
        "notice_model_unavailable": _("The language model cannot be reached at the moment, so the pages are quoted."),
        "notice_words_only": _("Only words could be compared just now, so the answer may miss something."),
        "abstained_title": _("No reliable answer found"),
        "related_title": _("Perhaps you would like to ask:"),
        "choose": _("Choose one, or write it:"),
        "contact_title": _("These people can help:"),
        "contact_fallback": _("Contact"),
        "table": _("Table"),
        "answer_actions": _("This answer"),
        "thumbs_up": _("Helpful"),
        "thumbs_down": _("Not helpful"),
        "thanks": _("Thank you for your feedback."),
        "feedback_removed": _("Your feedback was removed."),
        "copy_answer": _("Copy the answer"),
        "copied": _("Copied."),
        "copy_failed": _("The answer could not be copied."),
        # Sources
        "sources_title": _("Sources"),
        "source_page": _("page {page}"),
        "source_untitled": _("Untitled page"),
        "citation_label": _("Source {n}: {title}"),
        "opens_new_tab": _("(opens in a new tab)"),
        # Read aloud
        "announce_sources": _("Answer complete. Number of sources: {count}."),
        "announce_new_conversation": _("New conversation."),
    }
