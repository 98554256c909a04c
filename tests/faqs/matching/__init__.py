"""Tests of how FAQs are matched."""
