"""Validation on new samples: cross-validation, stability, substitutes, number of components."""
