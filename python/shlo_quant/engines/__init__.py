"""Engines run a program; one file an engine, none knows another."""
