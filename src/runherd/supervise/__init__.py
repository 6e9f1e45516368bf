"""Processes that outlive their controller: supervisor, wrapper, and how they are started."""
