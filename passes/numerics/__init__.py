"""The arithmetic of quantization on numpy arrays and Python integers: each formula once, named, with its source."""
