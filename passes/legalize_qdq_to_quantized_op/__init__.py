"""Pass `stablehlo-legalize-qdq-to-quantized-op`."""
