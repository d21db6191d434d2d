"""Receiver of OpenTelemetry's spans over OTLP/HTTP, while trials are played.

May import the modules beside the folders of `tau_bridge`, `trace_formats` and `a2a.traceability`.
"""
