"""Where independent fits run: in processes of this machine."""
