-- Token bucket: what is stored is the tokens that are left, and what is worked on is those spent.
a = capacity > a and capacity - a or 0
