"""Objectives: values, gradients and swaps of sparse supports, without any search."""
