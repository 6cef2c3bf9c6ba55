"""Embedding models behind `bio_mcp.ports.Embeddings`, and the installation of the default one.

ONNX Runtime and Hugging Face's libraries report usage unless these variables are set before they are imported. Setting
one of them to 0 in the environment re-enables it.
"""

import os

TELEMETRY_OFF = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",  # models are read from a directory of this machine
    "DO_NOT_TRACK": "1",
}
for _name, _value in TELEMETRY_OFF.items():
    os.environ.setdefault(_name, _value)
TELEMETRY_WANTED = os.environ["ORT_DISABLE_TELEMETRY"] == "0"
