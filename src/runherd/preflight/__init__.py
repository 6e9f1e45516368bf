"""What is checked before anything is launched."""
