"""Admin pages of the FAQs."""

from faqs.admin.categories import CategoryAdmin
from faqs.admin.faqs import FAQAdmin
from faqs.admin.matching import MatcherAdmin

__all__ = ["CategoryAdmin", "FAQAdmin", "MatcherAdmin"]
