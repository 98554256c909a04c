"""The page of the columns of reports, from the table that files are made by."""

from analytics.reports.columns import COLUMNS, SCHEMA_VERSION, Kind
from docs.generate.tables import cell, code, table

INTRODUCTION = """# Columns of reports

A report is a table, a row an answer. For tools that read it every night (Power BI, Superset, R, pandas), this page says
what stands in JSON Lines and Parquet files. Keys, types and codes stay as they are: this is version {version} of them,
which a Parquet file names in its metadata as `marcelcms`. New columns and codes may come at any time, so choose columns
by their keys. Excel and CSV files are for people: headings and codes are in the language of whoever asked, and times
are local.

A column is empty (`null`) where nothing is known. Opinions of few students are empty too, and rows of small groups are
left out, unless you may see them. Fetch the files over the [staff API](staff-api.md).
"""
CODES = """
## Codes

The words that stand in columns of codes.
"""
JSON_TYPES = {
    Kind.TEXT: "string",
    Kind.CODE: "string, a code",
    Kind.CODES: "list of strings, codes",
    Kind.NUMBER: "number",
    Kind.WHOLE_NUMBER: "whole number",
    Kind.FLAG: "true or false",
    Kind.TIME: "string, ISO 8601 with the zone",
    Kind.SOURCES: "list of objects: `n`, `title`, `heading`, `page`, `url`",
}
PARQUET_TYPES = {
    Kind.TEXT: "string",
    Kind.CODE: "string",
    Kind.CODES: "list<string>",
    Kind.NUMBER: "double",
    Kind.WHOLE_NUMBER: "int64",
    Kind.FLAG: "bool",
    Kind.TIME: "timestamp[us, UTC]",
    Kind.SOURCES: "list<struct<n: int64, page: int64, title, heading, url: string>>",
}
ONLY = " Only for who may see personal texts."


def page() -> str:
    rows = [
        [
            code(key),
            cell(f"{column.label}." + (ONLY if column.is_identity else "")),
            JSON_TYPES[column.kind],
            cell(PARQUET_TYPES[column.kind]),
        ]
        for key, column in COLUMNS.items()
    ]
    coded = [
        [code(key), code(value), cell(words)]
        for key, column in COLUMNS.items()
        for value, words in (column.words or {}).items()
    ]
    parts = [INTRODUCTION.format(version=SCHEMA_VERSION), table(["key", "what it is", "JSON Lines", "Parquet"], rows)]
    return "\n".join([*parts, CODES, table(["column", "code", "means"], coded)])
