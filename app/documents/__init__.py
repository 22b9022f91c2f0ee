"""Finished work as files: what was computed meets how it is drawn and written."""

from app.documents.diagonal import DIAGONAL_FORMATS
from app.documents.information import INFORMATION_FORMATS
from app.documents.maps import document, metadata, sweep_document

__all__ = ["DIAGONAL_FORMATS", "INFORMATION_FORMATS", "document", "metadata", "sweep_document"]
