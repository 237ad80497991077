-- Leaky bucket: what is stored is the occupancy.
local function turned(count)
  return count
end
