-- The instant at which nothing is spent, 0 if nothing is.
rested = a > 0 and at + window or 0
