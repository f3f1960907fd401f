"""Quantizing PyTorch models with pt2e: quantizers and drivers that end in an ExportedProgram ready to lower."""
