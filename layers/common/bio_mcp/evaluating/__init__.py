"""How good the product's answers are: sets of judged questions, asked through its own functions, and the figures."""
