"""From the command to the open window."""
