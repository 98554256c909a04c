"""What each role may open, do and call, on the rows of its own teams.

One column a role, in the order of ROLES: x it may, . it may not, 0 there is nothing to be found for it.
What another team has is nobody's: for all of it, the tests expect what they get for a row that is not there.
"""

ROLES = ("Curator", "Reviewer", "Analyst", "Administrator", "Whole", "Nobody")


def _read(table: str) -> dict[str, str]:
    """Return the marks of each line by its name."""
    lines = (line.rsplit(None, len(ROLES)) for line in table.splitlines() if line.strip())
    return {name.strip(): "".join(marks) for name, *marks in lines}


#: Curator, Reviewer, Analyst, Administrator, a curator of the whole university, and staff without a role. Whoever has
#: not logged in opens none of it.
DOORS = _read(
    """
    try-question GET                                         x x x x x .
    why-answer GET                                           x x . x x .
    why-answer POST                                          x x . x x .
    impact GET                                               x x x x x .
    impact-document GET                                      x x x x x .
    impact-document POST                                     x . . x x .
    contradictions GET                                       x x x x x .
    contradiction POST                                       x . . x x .
    faq-reading POST                                         x . . x x .
    search-everything GET                                    x x x x x x
    to-do GET                                                x x . x x .
    to-do POST                                               x x . x x .
    inbox-preferences GET                                    x x x x x .
    inbox-preferences POST                                   x x x x x .
    my-login GET                                             x x x x x x
    my-login POST                                            x x x x x x
    my-sessions-end POST                                     x x x x x x
    passkey-remove POST                                      x x x x x x
    sessions-end POST                                        . . . x . .
    second-factor-reset POST                                 . . . x . .
    invite GET                                               . . . x . .
    invite POST                                              . . . x . .
    invite-again POST                                        . . . x . .
    dashboard GET                                            . . x x . .
    topics GET                                               x x x x x .
    topic GET                                                x x x x x .
    topic-change POST                                        x . x x x .
    quality GET                                              x x x x x .
    quality-judge GET                                        x x . x x .
    quality-judge POST                                       x x . x x .
    quality-promise GET                                      x x x x x .
    quality-promise POST                                     x . . x x .
    shadow-faq POST                                          x . . x x .
    language-model GET                                       x x x x x .
    language-model-progress GET                              x x x x x .
    language-model-start POST                                x . . x x .
    language-model-stop POST                                 x . . x x .
    language-model-switch POST                               x . . x x .
    index GET                                                x x x x x x
    login GET                                                x x x x x x
    logout POST                                              x x x x x x
    password_change GET                                      x x x x x x
    password_change POST                                     x x x x x x
    password_change_done GET                                 x x x x x x
    autocomplete GET                                         x x x x x .
    jsi18n GET                                               x x x x x x
    view_on_site GET                                         0 0 0 0 0 0
    auth_group_changelist GET                                . . . x . .
    auth_group_add GET                                       . . . x . .
    auth_group_history GET                                   . . . x . .
    auth_group_delete GET                                    . . . x . .
    auth_group_delete POST                                   . . . x . .
    auth_group_change GET                                    . . . x . .
    auth_group_change POST                                   . . . x . .
    django_celery_beat_periodictask_changelist GET           . . . x . .
    django_celery_beat_periodictask_add GET                  . . . x . .
    django_celery_beat_periodictask_delete GET               . . . x . .
    django_celery_beat_periodictask_delete POST              . . . x . .
    django_celery_beat_periodictask_change GET               . . . x . .
    django_celery_beat_periodictask_change POST              . . . x . .
    knowledge_collection_changelist GET                      x . . x x .
    knowledge_collection_add GET                             . . . x . .
    knowledge_collection_history GET                         x . . x x .
    knowledge_collection_delete GET                          . . . x . .
    knowledge_collection_delete POST                         . . . x . .
    knowledge_collection_change GET                          x . . x x .
    knowledge_collection_change POST                         x . . x x .
    knowledge_crawlrun_progress GET                          x . . x x .
    knowledge_crawlrun_stop POST                             x . . x x .
    knowledge_crawlrun_archive POST                          x . . x x .
    knowledge_crawlrun_keep POST                             x . . x x .
    knowledge_crawlrun_changelist GET                        x . . x x .
    knowledge_crawlrun_add GET                               . . . . . .
    knowledge_crawlrun_history GET                           x . . x x .
    knowledge_crawlrun_delete GET                            . . . . . .
    knowledge_crawlrun_delete POST                           . . . . . .
    knowledge_crawlrun_change GET                            x . . x x .
    knowledge_crawlrun_change POST                           x . . x x .
    knowledge_course_changelist GET                          x . . x x .
    knowledge_course_add GET                                 x . . x x .
    knowledge_course_history GET                             x . . x x .
    knowledge_course_delete GET                              x . . x x .
    knowledge_course_delete POST                             x . . x x .
    knowledge_course_import GET                              x . . x x .
    knowledge_course_import POST                             x . . x x .
    knowledge_course_documents GET                           x . . x x .
    knowledge_course_proposals GET                           x . . x x .
    knowledge_course_proposals POST                          x . . x x .
    knowledge_course_change GET                              x . . x x .
    knowledge_course_change POST                             x . . x x .
    knowledge_document_versions GET                          x x x x x .
    knowledge_document_correction GET                        x x x x x .
    knowledge_document_correction POST                       x . . x x .
    knowledge_document_original POST                         x . . x x .
    knowledge_document_restore POST                          x . . x x .
    knowledge_document_changelist GET                        x x x x x .
    knowledge_document_add GET                               x . . x x .
    knowledge_document_history GET                           x x x x x .
    knowledge_document_delete GET                            x . . x x .
    knowledge_document_delete POST                           x . . x x .
    knowledge_document_change GET                            x x x x x .
    knowledge_document_change POST                           x . . x x .
    knowledge_editiongroup_changelist GET                    x . . x x .
    knowledge_editiongroup_add GET                           . . . . . .
    knowledge_editiongroup_history GET                       x . . x x .
    knowledge_editiongroup_delete GET                        . . . . . .
    knowledge_editiongroup_delete POST                       . . . . . .
    knowledge_editiongroup_change GET                        x . . x x .
    knowledge_editiongroup_change POST                       x . . x x .
    knowledge_flaggedtext_changelist GET                     x . . x x .
    knowledge_flaggedtext_add GET                            . . . . . .
    knowledge_flaggedtext_history GET                        x . . x x .
    knowledge_flaggedtext_delete GET                         . . . . . .
    knowledge_flaggedtext_delete POST                        . . . . . .
    knowledge_flaggedtext_change GET                         x . . x x .
    knowledge_flaggedtext_change POST                        x . . x x .
    knowledge_generation_changelist GET                      . . . x . .
    knowledge_generation_add GET                             . . . . . .
    knowledge_generation_history GET                         . . . x . .
    knowledge_generation_delete GET                          . . . . . .
    knowledge_generation_delete POST                         . . . . . .
    knowledge_generation_change GET                          . . . x . .
    knowledge_generation_change POST                         . . . . . .
    knowledge_pdfupload_changelist GET                       x . . x x .
    knowledge_pdfupload_add GET                              x . . x x .
    knowledge_pdfupload_history GET                          x . . x x .
    knowledge_pdfupload_delete GET                           . . . . . .
    knowledge_pdfupload_delete POST                          . . . . . .
    knowledge_pdfupload_change GET                           x . . x x .
    knowledge_pdfupload_change POST                          . . . . . .
    knowledge_source_crawl POST                              x . . x x .
    knowledge_source_changelist GET                          x . . x x .
    knowledge_source_add GET                                 x . . x x .
    knowledge_source_history GET                             x . . x x .
    knowledge_source_delete GET                              x . . x x .
    knowledge_source_delete POST                             x . . x x .
    knowledge_source_change GET                              x . . x x .
    knowledge_source_change POST                             x . . x x .
    faqs_category_changelist GET                             x . . x x .
    faqs_category_add GET                                    x . . x x .
    faqs_category_history GET                                x . . x x .
    faqs_category_delete GET                                 . . . x . .
    faqs_category_delete POST                                . . . x . .
    faqs_category_change GET                                 x . . x x .
    faqs_category_change POST                                x . . x x .
    faqs_faq_import GET                                      x . . x x .
    faqs_faq_import POST                                     x . . x x .
    faqs_faq_import_template GET                             x x x x x 0
    faqs_faq_export GET                                      x x x x x .
    faqs_faq_download GET                                    x x x x x 0
    faqs_faq_near POST                                       x x x x x .
    faqs_faq_duplicates GET                                  x x x x x .
    faqs_faq_merge GET                                       x . . x x .
    faqs_faq_merge POST                                      x . . x x .
    faqs_faq_dismiss POST                                    x . . x x .
    faqs_faq_versions GET                                    x x x x x .
    faqs_faq_restore POST                                    x . . x x .
    faqs_faq_confirm POST                                    x . . x x .
    faqs_faq_changelist GET                                  x x x x x .
    faqs_faq_add GET                                         x x . x x .
    faqs_faq_history GET                                     x x x x x .
    faqs_faq_delete GET                                      x . . x x .
    faqs_faq_delete POST                                     x . . x x .
    faqs_faq_change GET                                      x x x x x .
    faqs_faq_change POST                                     x . . x x .
    faqs_matcher_choose POST                                 x . . x x .
    faqs_matcher_use POST                                    x . . x x .
    faqs_matcher_changelist GET                              x . . x x .
    faqs_matcher_add GET                                     . . . . . .
    faqs_matcher_history GET                                 x . . x x .
    faqs_matcher_delete GET                                  . . . . . .
    faqs_matcher_delete POST                                 . . . . . .
    faqs_matcher_change GET                                  x . . x x .
    faqs_matcher_change POST                                 . . . . . .
    chat_assistant_changelist GET                            x x x x x .
    chat_assistant_add GET                                   . . . x . .
    chat_assistant_history GET                               x x x x x .
    chat_assistant_delete GET                                . . . x . .
    chat_assistant_delete POST                               . . . x . .
    chat_assistant_change GET                                x x x x x .
    chat_assistant_change POST                               x . . x x .
    chat_conversation_changelist GET                         x x . x x .
    chat_conversation_add GET                                . . . . . .
    chat_conversation_history GET                            x x . x x .
    chat_conversation_delete GET                             . . . x . .
    chat_conversation_delete POST                            . . . x . .
    chat_conversation_change GET                             x x . x x .
    chat_conversation_change POST                            . . . . . .
    chat_heldbacksentence_judge POST                         x x . x x .
    chat_heldbacksentence_changelist GET                     x x . x x .
    chat_heldbacksentence_add GET                            . . . . . .
    chat_heldbacksentence_history GET                        x x . x x .
    chat_heldbacksentence_delete GET                         . . . . . .
    chat_heldbacksentence_delete POST                        . . . . . .
    chat_heldbacksentence_change GET                         x x . x x .
    chat_heldbacksentence_change POST                        . . . . . .
    chat_case_state POST                                     x x . x x .
    chat_case_pass_on POST                                   x x . x x .
    chat_case_merge POST                                     . . . . . .
    chat_case_assign POST                                    x x . x x .
    chat_case_comment POST                                   x x . x x .
    chat_case_reading POST                                   x x . x x .
    chat_case_draft POST                                     x x . x x .
    chat_case_phrasing POST                                  x . . x x .
    chat_case_several GET                                    x x . x x .
    chat_case_several POST                                   x x . x x .
    chat_case_changelist GET                                 x x . x x .
    chat_case_add GET                                        . . . . . .
    chat_case_history GET                                    x x . x x .
    chat_case_delete GET                                     . . . . . .
    chat_case_delete POST                                    . . . . . .
    chat_case_change GET                                     x x . x x .
    chat_case_change POST                                    x x . x x .
    chat_experiment_start POST                               x . . x x .
    chat_experiment_stop POST                                x . . x x .
    chat_experiment_adopt POST                               x . . x x .
    chat_experiment_take_back POST                           x . . x x .
    chat_experiment_changelist GET                           x . x x x .
    chat_experiment_add GET                                  x . . x x .
    chat_experiment_history GET                              x . x x x .
    chat_experiment_delete GET                               x . . x x .
    chat_experiment_delete POST                              x . . x x .
    chat_experiment_change GET                               x . x x x .
    chat_experiment_change POST                              . . . . . .
    chat_office_changelist GET                               x . . x x .
    chat_office_add GET                                      . . . x . .
    chat_office_history GET                                  x . . x x .
    chat_office_delete GET                                   . . . x . .
    chat_office_delete POST                                  . . . x . .
    chat_office_change GET                                   x . . x x .
    chat_office_change POST                                  . . . x . .
    chat_retrievalprofile_clone POST                         . . . x . .
    chat_retrievalprofile_changelist GET                     x . x x x .
    chat_retrievalprofile_add GET                            . . . x . .
    chat_retrievalprofile_history GET                        x . x x x .
    chat_retrievalprofile_delete GET                         . . . x . .
    chat_retrievalprofile_delete POST                        . . . x . .
    chat_retrievalprofile_change GET                         x . x x x .
    chat_retrievalprofile_change POST                        . . . x . .
    chat_promptversion_draft_preview POST                    x . . x x .
    chat_promptversion_preview POST                          x . . x x .
    chat_promptversion_use GET                               x . . x x .
    chat_promptversion_use POST                              x . . x x .
    chat_promptversion_changelist GET                        x . . x x .
    chat_promptversion_add GET                               . . . x . .
    chat_promptversion_history GET                           x . . x x .
    chat_promptversion_delete GET                            . . . x . .
    chat_promptversion_delete POST                           . . . x . .
    chat_promptversion_change GET                            x . . x x .
    chat_promptversion_change POST                           x . . x x .
    chat_apiclient_changelist GET                            . . . x . .
    chat_apiclient_add GET                                   . . . x . .
    chat_apiclient_history GET                               . . . x . .
    chat_apiclient_delete GET                                . . . x . .
    chat_apiclient_delete POST                               . . . x . .
    chat_apiclient_change GET                                . . . x . .
    chat_apiclient_change POST                               . . . x . .
    chat_webhook_changelist GET                              . . . x . .
    chat_webhook_add GET                                     . . . x . .
    chat_webhook_history GET                                 . . . x . .
    chat_webhook_delete GET                                  . . . x . .
    chat_webhook_delete POST                                 . . . x . .
    chat_webhook_change GET                                  . . . x . .
    chat_webhook_change POST                                 . . . x . .
    chat_webhook_test POST                                   . . . x . .
    chat_webhookdelivery_changelist GET                      . . . x . .
    chat_webhookdelivery_add GET                             . . . . . .
    chat_webhookdelivery_history GET                         . . . x . .
    chat_webhookdelivery_delete GET                          . . . x . .
    chat_webhookdelivery_delete POST                         . . . x . .
    chat_webhookdelivery_change GET                          . . . x . .
    chat_webhookdelivery_change POST                         . . . . . .
    chat_webhookdelivery_again POST                          . . . x . .
    chat_site_changelist GET                                 x . . x x .
    chat_site_add GET                                        . . . x . .
    chat_site_history GET                                    x . . x x .
    chat_site_delete GET                                     . . . x . .
    chat_site_delete POST                                    . . . x . .
    chat_site_change GET                                     x . . x x .
    chat_site_change POST                                    . . . x . .
    analytics_gap_progress GET                               x x . x x .
    analytics_gap_look POST                                  x x . x x .
    analytics_gap_rename POST                                x x . x x .
    analytics_gap_assign POST                                x x . x x .
    analytics_gap_comment POST                               x x . x x .
    analytics_gap_reading POST                               x x . x x .
    analytics_gap_state POST                                 x x . x x .
    analytics_gap_draft POST                                 x x . x x .
    analytics_gap_phrasings POST                             x . . x x .
    analytics_gap_changelist GET                             x x . x x .
    analytics_gap_add GET                                    . . . . . .
    analytics_gap_history GET                                x x . x x .
    analytics_gap_delete GET                                 . . . . . .
    analytics_gap_delete POST                                . . . . . .
    analytics_gap_change GET                                 x x . x x .
    analytics_gap_change POST                                x x . x x .
    analytics_evaluationquestion_review GET                  x x . x x .
    analytics_evaluationquestion_review_one GET              x x . x x .
    analytics_evaluationquestion_review_one POST             x x . x x .
    analytics_evaluationquestion_changelist GET              x x . x x .
    analytics_evaluationquestion_add GET                     x x . x x .
    analytics_evaluationquestion_history GET                 x x . x x .
    analytics_evaluationquestion_delete GET                  . . . x . .
    analytics_evaluationquestion_delete POST                 . . . x . .
    analytics_evaluationquestion_change GET                  x x . x x .
    analytics_evaluationquestion_change POST                 x x . x x .
    analytics_assumptions_changelist GET                     . . x x . .
    analytics_assumptions_add GET                            . . . . . .
    analytics_assumptions_history GET                        . . x x . .
    analytics_assumptions_delete GET                         . . . . . .
    analytics_assumptions_delete POST                        . . . . . .
    analytics_assumptions_change GET                         . . x x . .
    analytics_assumptions_change POST                        . . . x . .
    analytics_timelinedate_changelist GET                    . . x x . .
    analytics_timelinedate_add GET                           . . x x . .
    analytics_timelinedate_history GET                       . . x x . .
    analytics_timelinedate_delete GET                        . . x x . .
    analytics_timelinedate_delete POST                       . . x x . .
    analytics_timelinedate_change GET                        . . x x . .
    analytics_timelinedate_change POST                       . . x x . .
    analytics_report_progress GET                            . . x x . .
    analytics_report_download GET                            . . . . . .
    analytics_report_stop POST                               . . x x . .
    analytics_report_delete_file POST                        . . x x . .
    analytics_report_changelist GET                          . . x x . .
    analytics_report_add GET                                 . . x x . .
    analytics_report_history GET                             . . x x . .
    analytics_report_delete GET                              . . x x . .
    analytics_report_delete POST                             . . x x . .
    analytics_report_change GET                              . . x x . .
    analytics_report_change POST                             . . x x . .
    analytics_retentionrun_changelist GET                    . . . x . .
    analytics_retentionrun_add GET                           . . . . . .
    analytics_retentionrun_history GET                       . . . x . .
    analytics_retentionrun_delete GET                        . . . . . .
    analytics_retentionrun_delete POST                       . . . . . .
    analytics_retentionrun_change GET                        . . . x . .
    analytics_retentionrun_change POST                       . . . . . .
    analytics_anonymisedquestion_changelist GET              . . . x . .
    analytics_anonymisedquestion_add GET                     . . . . . .
    analytics_anonymisedquestion_history GET                 . . . x . .
    analytics_anonymisedquestion_delete GET                  . . . . . .
    analytics_anonymisedquestion_delete POST                 . . . . . .
    analytics_anonymisedquestion_change GET                  . . . x . .
    analytics_anonymisedquestion_change POST                 . . . . . .
    analytics_review_undo POST                               x x . x x .
    analytics_review_reading POST                            x x . x x .
    analytics_review_keep POST                               x x . x x .
    analytics_review_assign POST                             x x . x x .
    analytics_review_meant POST                              x . . x x .
    analytics_review_faqs GET                                x . . x x .
    analytics_review_changelist GET                          x x . x x .
    analytics_review_add GET                                 . . . . . .
    analytics_review_history GET                             x x . x x .
    analytics_review_delete GET                              . . . . . .
    analytics_review_delete POST                             . . . . . .
    analytics_review_change GET                              x x . x x .
    analytics_review_change POST                             x x . x x .
    analytics_evaluationrun_progress GET                     x . x x x .
    analytics_evaluationrun_cancel POST                      . . x x . .
    analytics_evaluationrun_compare GET                      0 . 0 0 0 .
    analytics_evaluationrun_changelist GET                   x . x x x .
    analytics_evaluationrun_add GET                          . . x x . .
    analytics_evaluationrun_history GET                      x . x x x .
    analytics_evaluationrun_delete GET                       . . . x . .
    analytics_evaluationrun_delete POST                      . . . x . .
    analytics_evaluationrun_change GET                       x . x x x .
    analytics_evaluationrun_change POST                      x . x x x .
    analytics_evaluationset_changelist GET                   x x x x x .
    analytics_evaluationset_add GET                          . . . x . .
    analytics_evaluationset_history GET                      x x x x x .
    analytics_evaluationset_delete GET                       . . . x . .
    analytics_evaluationset_delete POST                      . . . x . .
    analytics_evaluationset_propose POST                     x x . x x .
    analytics_evaluationset_change GET                       x x x x x .
    analytics_evaluationset_change POST                      . . . x . .
    analytics_shadowtest_start POST                          x . . x x .
    analytics_shadowtest_keep POST                           x x . x x .
    analytics_shadowtest_progress GET                        x . . x x .
    analytics_shadowtest_stop POST                           x . . x x .
    analytics_shadowtest_again POST                          x . . x x .
    analytics_shadowtest_publish POST                        x . . x x .
    analytics_shadowtest_discard POST                        x . . x x .
    analytics_shadowtest_changelist GET                      x . . x x .
    analytics_shadowtest_add GET                             . . . . . .
    analytics_shadowtest_history GET                         x . . x x .
    analytics_shadowtest_delete GET                          . . . x . .
    analytics_shadowtest_delete POST                         . . . x . .
    analytics_shadowtest_change GET                          x . . x x .
    analytics_shadowtest_change POST                         x . . x x .
    marcelcms_directorygroup_changelist GET                  . . . x . .
    marcelcms_directorygroup_add GET                         . . . x . .
    marcelcms_directorygroup_history GET                     . . . x . .
    marcelcms_directorygroup_delete GET                      . . . x . .
    marcelcms_directorygroup_delete POST                     . . . x . .
    marcelcms_directorygroup_change GET                      . . . x . .
    marcelcms_directorygroup_change POST                     . . . x . .
    marcelcms_directoryidentity_changelist GET               . . . x . .
    marcelcms_directoryidentity_add GET                      . . . . . .
    marcelcms_directoryidentity_history GET                  . . . x . .
    marcelcms_directoryidentity_delete GET                   . . . x . .
    marcelcms_directoryidentity_delete POST                  . . . x . .
    marcelcms_directoryidentity_change GET                   . . . x . .
    marcelcms_directoryidentity_change POST                  . . . . . .
    marcelcms_rolewithsecondfactor_changelist GET            . . . x . .
    marcelcms_rolewithsecondfactor_add GET                   . . . x . .
    marcelcms_rolewithsecondfactor_history GET               . . . x . .
    marcelcms_rolewithsecondfactor_delete GET                . . . x . .
    marcelcms_rolewithsecondfactor_delete POST               . . . x . .
    marcelcms_rolewithsecondfactor_change GET                . . . x . .
    marcelcms_rolewithsecondfactor_change POST               . . . . . .
    marcelcms_apitoken_changelist GET                        x x x x x x
    marcelcms_apitoken_add GET                               x x x x x x
    marcelcms_apitoken_history GET                           x x x x x x
    marcelcms_apitoken_delete GET                            x x x x x x
    marcelcms_apitoken_delete POST                           x x x x x x
    marcelcms_apitoken_change GET                            x x x x x x
    marcelcms_apitoken_change POST                           . . . . . .
    auth_user_password_change GET                            . . . x . .
    auth_user_password_change POST                           . . . x . .
    auth_user_changelist GET                                 . . . x . .
    auth_user_add GET                                        . . . x . .
    auth_user_history GET                                    . . . x . .
    auth_user_delete GET                                     . . . x . .
    auth_user_delete POST                                    . . . x . .
    auth_user_change GET                                     . . . x . .
    auth_user_change POST                                    . . . x . .
    admin_logentry_changelist GET                            . . . x . .
    admin_logentry_add GET                                   . . . . . .
    admin_logentry_history GET                               . . . x . .
    admin_logentry_delete GET                                . . . . . .
    admin_logentry_delete POST                               . . . . . .
    admin_logentry_change GET                                . . . x . .
    admin_logentry_change POST                               . . . . . .
    app_list GET                                             x x x x x 0
    """
)

#: The actions of lists, for those who may open the list.
ACTIONS = _read(
    """
    auth_group delete_selected                               . . . x . .
    django_celery_beat_periodictask delete_selected          . . . x . .
    django_celery_beat_periodictask enable_tasks             . . . x . .
    django_celery_beat_periodictask disable_tasks            . . . x . .
    django_celery_beat_periodictask toggle_tasks             . . . x . .
    django_celery_beat_periodictask run_tasks                . . . x . .
    django_celery_beat_clockedschedule delete_selected       . . . x . .
    django_celery_beat_crontabschedule delete_selected       . . . x . .
    django_celery_beat_solarschedule delete_selected         . . . x . .
    django_celery_beat_intervalschedule delete_selected      . . . x . .
    knowledge_collection delete_selected                     . . . x . .
    knowledge_course delete_selected                         x . . x x .
    knowledge_document delete_selected                       x . . x x .
    knowledge_document publish                               x . . x x .
    knowledge_document archive                               x . . x x .
    knowledge_document reindex                               x . . x x .
    knowledge_document read_again                            x . . x x .
    knowledge_document join_editions                         x . . x x .
    knowledge_document part_editions                         x . . x x .
    knowledge_document release_editions                      x . . x x .
    knowledge_editiongroup part                              x . . x x .
    knowledge_flaggedtext clear                              x . . x x .
    knowledge_flaggedtext keep_hidden                        x . . x x .
    knowledge_source delete_selected                         x . . x x .
    knowledge_source crawl_selected                          x . . x x .
    faqs_category delete_selected                            . . . x . .
    faqs_faq delete_selected                                 x . . x x .
    faqs_faq publish                                         x . . x x .
    faqs_faq retire                                          x . . x x .
    faqs_faq back_to_draft                                   x . . x x .
    chat_assistant delete_selected                           . . . x . .
    chat_conversation delete_selected                        . . . x . .
    chat_retrievalprofile delete_selected                    . . . x . .
    chat_promptversion delete_selected                       . . . x . .
    marcelcms_directorygroup delete_selected                 . . . x . .
    marcelcms_rolewithsecondfactor delete_selected           . . . x . .
    chat_apiclient delete_selected                           . . . x . .
    chat_webhook delete_selected                             . . . x . .
    chat_office delete_selected                              . . . x . .
    chat_site delete_selected                                . . . x . .
    analytics_timelinedate delete_selected                   . . x x . .
    analytics_gap take_on                                    x x . x x .
    analytics_gap solve                                      x x . x x .
    analytics_gap dismiss                                    x x . x x .
    analytics_gap open_again                                 x x . x x .
    analytics_evaluationquestion delete_selected             . . . x . .
    analytics_evaluationquestion accept                      x x . x x .
    analytics_evaluationquestion reject                      x x . x x .
    analytics_report delete_selected                         . . x x . .
    analytics_review take                                    x x . x x .
    analytics_review finish                                  x x . x x .
    analytics_review judge_correct_abstention                x x . x x .
    analytics_review judge_missing_knowledge                 x x . x x .
    analytics_review judge_wrong_retrieval                   x x . x x .
    analytics_review judge_wrong_answer                      x x . x x .
    analytics_review judge_out_of_scope                      x x . x x .
    analytics_review judge_correct_answer                    x x . x x .
    analytics_review judge_abuse                             x x . x x .
    """
)

#: The operations of the staff API.
API = _read(
    """
    documents list                                           x x x x x .
    documents create                                         x . . x x .
    documents retrieve                                       x x x x x .
    documents update                                         x . . x x .
    documents partial_update                                 x . . x x .
    documents destroy                                        x . . x x .
    documents passages                                       x x x x x .
    faqs list                                                x x x x x .
    faqs create                                              x x . x x .
    faqs retrieve                                            x x x x x .
    faqs update                                              x . . x x .
    faqs partial_update                                      x . . x x .
    faqs destroy                                             x . . x x .
    faqs draft                                               x . . x x .
    faqs publish                                             x . . x x .
    faqs retire                                              x . . x x .
    faqs review                                              x . . x x .
    gaps list                                                x x . x x .
    gaps retrieve                                            x x . x x .
    gaps partial_update                                      x x . x x .
    gaps draft                                               x x . x x .
    gaps questions                                           x x . x x .
    reviews list                                             x x . x x .
    reviews retrieve                                         x x . x x .
    reviews assign                                           x x . x x .
    reviews comment                                          x x . x x .
    reviews judge                                            x x . x x .
    conversations list                                       x x . x x .
    conversations retrieve                                   x x . x x .
    evaluation-sets list                                     x x x x x .
    evaluation-sets retrieve                                 x x x x x .
    evaluation-runs list                                     x . x x x .
    evaluation-runs create                                   . . x x . .
    evaluation-runs retrieve                                 x . x x x .
    evaluation-runs results                                  x . x x x .
    figures list                                             . . x x . .
    topics list                                              x x x x x .
    topics partial_update                                    x . x x x .
    topics join                                              x . x x x .
    topics split                                             x . x x x .
    reports list                                             . . x x . .
    reports create                                           . . x x . .
    reports retrieve                                         . . x x . .
    reports update                                           . . x x . .
    reports partial_update                                   . . x x . .
    reports destroy                                          . . x x . .
    report-exports list                                      . . x x . .
    report-exports create                                    . . x x . .
    report-exports retrieve                                  . . x x . .
    report-exports cancel                                    . . x x . .
    report-exports file                                      . . x x . .
    """
)

#: Addresses for everybody, or for a visitor with a token of their own (api-1): no screen of the staff's.
PUBLIC = _read(
    """
    answer-page                                              x x x x x x
    api-1:api-root                                           x x x x x x
    api-1:assistant_info                                     x x x x x x
    api-1:case_email                                         x x x x x x
    api-1:case_helped                                        x x x x x x
    api-1:case_open                                          x x x x x x
    api-1:case_withdraw                                      x x x x x x
    api-1:case_write                                         x x x x x x
    api-1:conversation_ask                                   x x x x x x
    api-1:conversation_delete                                x x x x x x
    api-1:conversation_events                                x x x x x x
    api-1:conversation_file                                  x x x x x x
    api-1:conversation_get                                   x x x x x x
    api-1:conversation_list                                  x x x x x x
    api-1:conversation_rate                                  x x x x x x
    api-1:conversation_rename                                x x x x x x
    api-1:handover_get                                       x x x x x x
    api-1:message_calendar                                   x x x x x x
    api-1:message_contact                                    x x x x x x
    api-1:message_feedback                                   x x x x x x
    api-1:message_plain                                      x x x x x x
    api-1:message_stop                                       x x x x x x
    api-1:my_data_erase                                      x x x x x x
    api-1:my_data_get                                        x x x x x x
    api-1:openapi-json                                       x x x x x x
    api-1:session_begin                                      x x x x x x
    api-1:wish_make                                          x x x x x x
    case-mail-confirm                                        x x x x x x
    case-mail-stop                                           x x x x x x
    chat                                                     x x x x x x
    document-file                                            x x x x x x
    document-page                                            x x x x x x
    health-live                                              x x x x x x
    health-ready                                             x x x x x x
    invitation                                               x x x x x x
    metrics                                                  x x x x x x
    openai-chat                                              x x x x x x
    openai-model                                             x x x x x x
    openai-models                                            x x x x x x
    openai-not-found                                         x x x x x x
    sign-on                                                  x x x x x x
    sign-on-return                                           x x x x x x
    sign-on-saml                                             x x x x x x
    sign-on-saml-finish                                      x x x x x x
    sign-on-saml-logout                                      x x x x x x
    sign-on-saml-metadata                                    x x x x x x
    second-factor                                            x x x x x x
    second-factor-setup                                      x x x x x x
    passkey                                                  x x x x x x
    passkey-options                                          x x x x x x
    set_language                                             x x x x x x
    site-logo                                                x x x x x x
    widget-frame                                             x x x x x x
    widget-script                                            x x x x x x
    widget-test                                              x x x x x x
    """
)
