-- Products of more than 53 bits, as three digits of base 2^20 of which the first may be larger. They
-- are seldom needed, so the functions are made when they are.
local function exact()
  local BASE = 1048576

  -- x below 2^53 times y below 2^32: no digit's product reaches 2^53.
  local function product(x, y)
    local x0 = x % BASE
    local x1 = (x - x0) / BASE % BASE
    local x2 = ((x - x0) / BASE - x1) / BASE
    local low = x0 * y
    local p0 = low % BASE
    local middle = x1 * y + (low - p0) / BASE
    local p1 = middle % BASE
    return x2 * y + (middle - p1) / BASE, p1, p0
  end

  -- Adds n, of either sign and below 2^33, to a product.
  local function plus(p2, p1, p0, n)
    local low = p0 + n
    p0 = low % BASE
    local middle = p1 + (low - p0) / BASE
    p1 = middle % BASE
    return p2 + (middle - p1) / BASE, p1, p0
  end

  local function is_less(x2, x1, x0, y2, y1, y0)
    if x2 ~= y2 then
      return x2 < y2
    end
    if x1 ~= y1 then
      return x1 < y1
    end
    return x0 < y0
  end

  return product, plus, is_less, BASE
end
