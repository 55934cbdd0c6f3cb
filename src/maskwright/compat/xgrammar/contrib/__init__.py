"""XGrammar's processors for other libraries."""
