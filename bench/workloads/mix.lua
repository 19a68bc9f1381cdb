-- SPDX-License-Identifier: GPL-3.0-or-later
-- usage: mix.lua ROUNDS. Calls, closures, tables, strings, coroutines, floating point; for the interpreter and LuaJIT.
local rounds, sum = tonumber(arg[1]), 0

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return Point.new(a.x + b.x, a.y - b.y) end
function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end

for round = 1, rounds do
  sum = sum + ackermann(2, 220) + sieve(90000)
  local list, seed = {}, round
  for i = 1, 40000 do
    seed = seed * 16807 % 2147483647
    list[i] = seed
  end
  table.sort(list, function(a, b) return a > b end)
  sum = sum + list[round % 1000 + 1] % 1000
  local words = {}
  for i = 1, 12000 do words[#words + 1] = ("%x;%d"):format(list[i], i) end
  for hex, number in table.concat(words, " "):gmatch("(%x+);(%d+)") do sum = (sum + #hex * tonumber(number)) % 1000003 end
  local p = Point.new(0, 0)
  for i = 1, 60000 do p = p + Point.new(i, 1) end
  sum = (sum + p.x) % 1000003
  local produce = coroutine.wrap(function() for i = 1, 20000 do coroutine.yield(i * round % 17) end end)
  for _ = 1, 20000 do sum = sum + produce() end
  local x, y = 0.3, 0.1
  for _ = 1, 200000 do x, y = 1 - 1.4 * x * x + y, 0.3 * x end
  sum = sum + math.floor(x * 1000)
end
print(sum)
