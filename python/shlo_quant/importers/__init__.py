"""Importers make a StableHLO program from another framework's."""
