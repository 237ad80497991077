-- Fixed window: at is the start of the window, a what is used in it. Brings them to now.
too_far = false
if at then
  -- The window of this policy that holds the start, if it was written under another one.
  at = at - at % window
  too_far = at - now > window
end
if not at or too_far or now - at >= window then
  at, a, b = now - now % window, 0, 0
end
