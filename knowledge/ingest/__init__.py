"""Ingestion: files, pages and PDFs become documents."""
