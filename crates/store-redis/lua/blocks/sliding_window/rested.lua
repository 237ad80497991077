-- The instant at which nothing counts any more, 0 if nothing does.
if a > 0 then
  rested = at + window + window
elseif b > 0 then
  rested = at + window
else
  rested = 0
end
