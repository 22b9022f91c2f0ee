"""Finished work as files: what was computed meets how it is drawn and written."""

from app.documents.diagonal import DIAGONAL_FORMATS
from app.documents.information import INFORMATION_FORMATS
from app.documents.maps import document, metadata, sweep_document
from app.documents.probe import ENTRY_FORMATS, MOST_NUMBERS, PROBE_FORMATS, picturable

__all__ = [
    "DIAGONAL_FORMATS",
    "ENTRY_FORMATS",
    "INFORMATION_FORMATS",
    "MOST_NUMBERS",
    "PROBE_FORMATS",
    "document",
    "metadata",
    "picturable",
    "sweep_document",
]
