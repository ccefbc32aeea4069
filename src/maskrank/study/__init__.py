"""Experiments that are run again by one command."""
