"""The Paper view: what the paper reports, and how it trained."""
