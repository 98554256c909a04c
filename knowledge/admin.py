"""The screens of the knowledge base: each is registered where it is described."""

from knowledge.collection_admin import CollectionAdmin
from knowledge.crawl_admin import CrawlRunAdmin
from knowledge.document_admin import DocumentAdmin
from knowledge.flag_admin import FlaggedTextAdmin
from knowledge.generation_admin import GenerationAdmin
from knowledge.pdf_admin import PdfUploadAdmin
from knowledge.source_admin import SourceAdmin

__all__ = [
    "CollectionAdmin",
    "CrawlRunAdmin",
    "DocumentAdmin",
    "FlaggedTextAdmin",
    "GenerationAdmin",
    "PdfUploadAdmin",
    "SourceAdmin",
]
