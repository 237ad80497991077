-- The functions of a strategy, for requests under several policies: made where they are used.
if is_used['{tag}'] then
  local function enter()
    if at then
      --# turn
    end
    --# enter
  end
  local function fits()
    local fits
    --# fits
    return fits
  end
  local function rested_at()
    local rested
    --# rested
    return rested
  end
  local function to_store()
    --# turn
    return at, a, b
  end
  strategies['{tag}'] = { enter, fits, rested_at, to_store }
end
