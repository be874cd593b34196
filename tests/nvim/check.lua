-- Counts checks, waits for conditions, and ends the run with the counts.

local M = { passed = 0, failed = 0 }

-- How long a condition may take. It is a limit on failure, not a pause: a wait ends when it holds.
M.patience = 8000

local function say(line)
  io.stdout:write(line, '\n')
  io.stdout:flush()
end

local function show(value)
  return type(value) == 'string' and value or (vim.inspect(value):gsub('\n%s*', ' '))
end

--- @param what string what is promised
--- @param holds any truthy: the promise is kept
--- @param seen? any shown where it is not; a function is called only then
function M.ok(what, holds, seen)
  if holds then
    M.passed = M.passed + 1
    say('ok ' .. what)
    return true
  end
  M.failed = M.failed + 1
  say('not ok ' .. what)
  if vim.is_callable(seen) then
    seen = seen()
  end
  if seen ~= nil then
    say('    seen: ' .. show(seen))
  end
  return false
end

function M.equal(what, got, wanted)
  return M.ok(what, vim.deep_equal(got, wanted), function()
    return show(got) .. ', wanted: ' .. show(wanted)
  end)
end

--- Waits until `condition()` is truthy, and counts it as a check.
function M.eventually(what, condition, seen)
  return M.ok(what, (vim.wait(M.patience, function()
    return condition() and true or false
  end, 10)), seen)
end

--- Runs a part of the test; an error in it is a failed check, and the next part runs all the same.
function M.part(name, run)
  say('# ' .. name)
  local fine, fault = xpcall(run, debug.traceback)
  if not fine then
    M.ok(name .. ' runs to its end', false, fault)
  end
end

function M.finish()
  say(('%d passed, %d failed'):format(M.passed, M.failed))
  vim.cmd(M.failed == 0 and M.passed > 0 and 'qall!' or 'cquit 1')
end

return M
