"""Models of documents, courses, sources and the index."""

from knowledge.models.abbreviations import Abbreviation
from knowledge.models.collections import Collection, Granularity
from knowledge.models.corrections import Correction
from knowledge.models.courses import Course
from knowledge.models.document_states import FormerState, changed_since
from knowledge.models.documents import Document, DocumentRevision
from knowledge.models.editions import Edition, EditionGroup, TermKind
from knowledge.models.flags import FlaggedText
from knowledge.models.index import Generation, IndexChange, IndexedDocument, Passage, PropositionSet, Unit
from knowledge.models.pictures import PicturePage
from knowledge.models.sources import CrawlOutcome, CrawlRun, Source, SourcePage
from knowledge.models.uploads import PdfUpload

__all__ = [
    "Abbreviation",
    "Collection",
    "Correction",
    "Course",
    "CrawlOutcome",
    "CrawlRun",
    "Document",
    "DocumentRevision",
    "Edition",
    "EditionGroup",
    "FlaggedText",
    "FormerState",
    "Generation",
    "Granularity",
    "IndexChange",
    "IndexedDocument",
    "Passage",
    "PdfUpload",
    "PicturePage",
    "PropositionSet",
    "Source",
    "SourcePage",
    "TermKind",
    "Unit",
    "changed_since",
]
