"""What solvers, selectors and bounds share: Gram columns in, better choices out."""
