"""What a person sees: the report, a self-contained HTML page."""

from maskrank.report.html import Section, render_report

__all__ = ["Section", "render_report"]
