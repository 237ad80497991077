-- Token bucket: what is stored is the tokens that are left.
local function turned(count)
  return math.max(capacity - count, 0)
end
