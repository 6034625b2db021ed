"""scikit-learn shells: wrap, wire, solve, certify, publish. No arithmetic."""
