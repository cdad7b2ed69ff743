"""What the paper reports, as data: its Tables 2 and 3, and how it came to its estimates of cost."""
