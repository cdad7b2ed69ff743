"""What comes over the network: models and corpora, each only when it is asked for."""

import os

# Read when huggingface_hub is imported: it tells no site what runs on this computer.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
