"""Makes the binding's look-up of chlo ops cheap (see the package docstring); nothing to call."""
