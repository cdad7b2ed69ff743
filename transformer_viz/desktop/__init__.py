"""The program on a desktop: its place in the menus, and its manual page."""
