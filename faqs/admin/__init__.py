"""Admin pages of the FAQs."""

from faqs.admin.categories import CategoryAdmin
from faqs.admin.faqs import FAQAdmin

__all__ = ["CategoryAdmin", "FAQAdmin"]
