fits = a + cost <= capacity
