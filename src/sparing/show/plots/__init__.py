"""Plots, by scikit-learn's conventions for displays: ``from_estimator``, ``ax=``, ``figure_`` and ``ax_``."""
