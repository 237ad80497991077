fits = a + cost <= limit
