"""The screens of the knowledge base: each is registered where it is described."""

from knowledge.admin.collections import CollectionAdmin
from knowledge.admin.crawls import CrawlRunAdmin
from knowledge.admin.documents import DocumentAdmin
from knowledge.admin.flags import FlaggedTextAdmin
from knowledge.admin.generations import GenerationAdmin
from knowledge.admin.sources import SourceAdmin
from knowledge.admin.uploads import UploadAdmin

__all__ = [
    "CollectionAdmin",
    "CrawlRunAdmin",
    "DocumentAdmin",
    "FlaggedTextAdmin",
    "GenerationAdmin",
    "SourceAdmin",
    "UploadAdmin",
]
