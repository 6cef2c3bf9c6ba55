"""Embedding models behind the port `Embeddings`, and how the default one is put on the machine.

ONNX Runtime and Hugging Face's libraries report to their makers unless they are told not to, before they are imported.
They are told here. Whoever sets one of these variables to 0 has chosen otherwise.
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
