"""Record what calls depended on, and replay them."""
