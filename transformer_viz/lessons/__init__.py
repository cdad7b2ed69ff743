"""The Lessons panel: a course whose steps happen in the window."""
