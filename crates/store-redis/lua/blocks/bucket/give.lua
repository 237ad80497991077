a = a > cost and a - cost or 0
