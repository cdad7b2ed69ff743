"""The heads map at the left, and the inspector of the head chosen in it."""
