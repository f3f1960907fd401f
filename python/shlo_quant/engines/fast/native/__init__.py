"""Native code for what takes the time: elementwise groups, products, windows and sums, compiled to the machine."""
