"""Algorithms of the papers, one file each: selectors, solvers, encoders and deflations, with a registry for each."""
