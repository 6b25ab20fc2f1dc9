"""What if it were built or placed otherwise: sweeps, derivatives, optimisation, bands."""
