"""What each command of the command line takes and does."""
