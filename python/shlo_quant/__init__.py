"""From a quantized PyTorch (pt2e) model to quantized StableHLO, with proof."""
