-- The policies that requests refer to, and what the strategies work on.
local policies, is_used = {}, {}
local next_arg = 5
for number = 1, tonumber(ARGV[4]) do
  local tag = ARGV[next_arg]
  is_used[tag] = true
  policies[number] = {
    tag, tonumber(ARGV[next_arg + 1]), tonumber(ARGV[next_arg + 2]), tonumber(ARGV[next_arg + 3]),
  }
  next_arg = next_arg + 4
end

-- What each group of a run asks, from the place where its number of requests stands.
local function costs_of(place)
  local costs = {}
  for number = 1, tonumber(ARGV[place]) do
    costs[number] = ARGV[place + number] + 0
  end
  return costs
end

-- The request at hand, and the state that it is about: what the strategies work on.
local cost, limit, window, capacity, at, a, b, too_far

-- By the tag of the strategy: its functions.
local strategies = {}
