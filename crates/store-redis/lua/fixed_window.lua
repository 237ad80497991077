-- Fixed window: at is the start of the window, a what is used in it.
local function fresh()
  return now - now % window, 0, 0
end

local function enter()
  too_far = false
  if not at then
    at, a, b = fresh()
    return
  end
  -- The window of this policy that holds the start, if it was written under another one.
  at = at - at % window
  too_far = at - now > window
  if too_far or now - at >= window then
    at, a, b = fresh()
  end
end

local function fits()
  return a + cost <= limit
end

local function spend()
  a = a + cost
end

local function give()
  a = max(a - cost, 0)
end

-- The instant at which nothing is spent, 0 if nothing is.
local function rested_at()
  if a == 0 then
    return 0
  end
  return at + window
end

local function to_store()
  return at, a, b
end
