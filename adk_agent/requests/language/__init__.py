"""Language: reads plain English without a model, by rules that account for every word."""
