"""The columns of a file of FAQs, and how an FAQ is written into them."""

from typing import Any

from import_export import resources
from import_export.fields import Field

from faqs.importexport.widgets import AnswerWidget, DayWidget, LanguageWidget, ListWidget, StatusWidget, TextWidget
from faqs.models import ANSWER_FIELDS, FAQ, MOST_ANSWER_CHARACTERS


class FAQColumns(resources.Resource):  # type: ignore[misc]
    """Each column with the attribute of an FAQ that it holds."""

    number = Field("pk", "number", TextWidget(), readonly=True)
    id = Field("external_id", "id", TextWidget(200))
    question = Field("question", "question", TextWidget(1000))
    phrasings = Field("phrasing_texts", "phrasings", ListWidget(1000))
    sources = Field("source_urls", "sources", ListWidget(2000))
    category = Field("category_name", "category", TextWidget(200))
    language = Field("language", "language", LanguageWidget(12))
    status = Field("status", "status", StatusWidget(), saves_null_values=False)
    valid_from = Field("valid_from", "valid_from", DayWidget())
    valid_until = Field("valid_until", "valid_until", DayWidget())
    reference_answer = Field("reference_answer", "reference_answer", TextWidget())
    answer = Field("answer_as_given", "answer", AnswerWidget(MOST_ANSWER_CHARACTERS))
    answer_de = Field("answer_de", "answer_de", TextWidget(MOST_ANSWER_CHARACTERS))
    answer_en = Field("answer_en", "answer_en", TextWidget(MOST_ANSWER_CHARACTERS))
    office_de = Field("office_de", "office_de", TextWidget(200))
    office_en = Field("office_en", "office_en", TextWidget(200))
    answer_checked_on = Field("answer_checked_on", "answer_checked_on", DayWidget())
    collection = Field("collection_name", "collection", TextWidget())
    translation_of = Field("translation_name", "translation_of", TextWidget())

    class Meta:
        model = FAQ
        skip_diff = True
        use_bulk = True  # rows are saved together, by `faqs.services.import_planned`
        import_order = (
            "number",
            "id",
            "question",
            "phrasings",
            "sources",
            "category",
            "language",
            "status",
            "valid_from",
            "valid_until",
            "reference_answer",
            "answer",
            *ANSWER_FIELDS,
            "collection",
            "translation_of",
        )
        export_order = import_order

    def get_export_fields(self, selected_fields: Any = None) -> list[Field]:
        """Return the columns of a file; an answer has one for each language."""
        fields = super().get_export_fields(selected_fields)
        return [field for field in fields if field.column_name != "answer"]

    def iter_queryset(self, queryset: Any) -> Any:
        return queryset.with_parts().iterator(chunk_size=500)

    def dehydrate_phrasings(self, faq: FAQ) -> list[str]:
        return [phrasing.text for phrasing in faq.phrasings.all()]

    def dehydrate_sources(self, faq: FAQ) -> list[str]:
        return [source.document.url for source in faq.sources.all()]

    def dehydrate_category(self, faq: FAQ) -> str:
        return faq.category.name if faq.category else ""

    def dehydrate_collection(self, faq: FAQ) -> str:
        return faq.collection.slug if faq.collection else ""

    def dehydrate_translation_of(self, faq: FAQ) -> str:
        return str(faq.translation_of_id or "")


#: Attribute, by which an error is named -> column.
COLUMNS = {field.attribute: name for name, field in FAQColumns.fields.items()}
