-- Token bucket: what is stored is the tokens that are left.
local function turned(count)
  return max(capacity - count, 0)
end
