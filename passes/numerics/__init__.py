"""Numbers: every formula and rounding of the project, once; numpy and ints only, no MLIR."""
