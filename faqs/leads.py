"""The documents that an FAQ leads to: the pages of its own answers, and those that staff linked."""

#: A query's rows (id, faq_id, document_id, position); answers' pages come first. Columns' names are the models' own.
LEADS = """
SELECT id, faq_id, document_id, position::int AS position FROM faqs_faqsource
UNION ALL SELECT id, faq_id, document_id, -1 AS position FROM faqs_answerpage
"""
