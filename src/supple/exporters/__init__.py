"""Exporters: controllers as C."""
