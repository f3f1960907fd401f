"""Pass `stablehlo-legalize-quant-to-math`."""
