"""Renderings of a Report: saved JSON, terminal text, one HTML page, and the comparison of two.

Every module here reads :class:`stepscope.schema.report.Report` and nothing else, so that the
renderings cannot disagree. Importing this package imports neither bokeh nor rich.
"""
