"""A killer and its trials: what runherd promises must hold whatever is killed, and when."""
