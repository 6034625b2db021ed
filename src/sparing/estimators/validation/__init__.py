"""What holds on new samples: cross-validation, stability, substitutes, how many components."""
