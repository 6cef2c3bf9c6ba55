"""The stack of template.yaml on one machine: an emulator of AWS, a local NCBI and a real OpenSearch node."""
