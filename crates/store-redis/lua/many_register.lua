strategies[tag] = { enter, fits, spend, rested_at, to_store }
