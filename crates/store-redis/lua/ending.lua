-- Spends or gives back, and sees to the key's expiry. The scripts for one key end with this.
enter()

local function store()
  local option, value = expiry(rested_at())
  local done = redis.pcall('SET', KEYS[1], state_text(to_store()), option, value)
  if done.err then
    return done
  end
  return { 1, now, stored }
end

if operation == 'g' then
  -- What is ignored because it lies too far ahead stays as it is.
  if too_far then
    return { 1, now, stored }
  end
  give()
  if rested_at() == 0 then
    local done = redis.pcall('DEL', KEYS[1])
    if type(done) == 'table' then
      return done
    end
    return { 1, now, stored }
  end
  return store()
end

if cost == 0 then
  return { 0, now, stored }
end
if fits() then
  spend()
  return store()
end
if stored then
  rearm(KEYS[1], rested_at())
end
return { 0, now, stored }
