"""The Compare view: two sentences, models or heads."""
