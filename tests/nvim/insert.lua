-- Completion as a person meets it: an embedded Neovim, keys typed in Insert mode, the menu, and
-- the line that stands there in the end.

local M = {}

-- Runs in the embedded Neovim. It never waits: the parent asks until the answer is right.
local SETUP = [[
  local server, file = ...
  vim.o.completeopt = 'menuone,noselect'
  vim.lsp.config('kontext', { cmd = { server }, filetypes = { 'toml' }, root_markers = { '.git' } })
  vim.lsp.enable('kontext')
  vim.api.nvim_create_autocmd('LspAttach', {
    callback = function(event)
      vim.lsp.completion.enable(true, event.data.client_id, event.buf, { autotrigger = false })
    end,
  })
  vim.cmd('filetype plugin on')
  vim.cmd.edit(vim.fn.fnameescape(file))
]]

--- @param with { server: string, folder: string, check: table }
function M.run(with)
  local check = with.check
  local child = vim.fn.jobstart({ vim.v.progpath, '--clean', '--headless', '--embed' }, { rpc = true })
  local function lua(code, ...)
    return vim.rpcrequest(child, 'nvim_exec_lua', code, { ... })
  end
  local function input(keys)
    vim.rpcrequest(child, 'nvim_input', keys)
  end
  local function words()
    return lua([[return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'items' }).items)]])
  end

  --- Writes `line` as the last one, types `keys` where `@` marks it, asks for completion, and takes
  --- `word`. The line that stands there in the end has to match `wanted`.
  local function complete(what, line, keys, word, wanted)
    -- The cursor stands behind the mark before anything is typed: keys are worked off later.
    local at = assert(line:find('@', 1, true)) - 1
    lua([[local line, at = ...
      local row = vim.fn.line('$')
      vim.api.nvim_buf_set_lines(0, row - 1, row, false, { line })
      vim.api.nvim_win_set_cursor(0, { row, at })]], (line:gsub('@', '', 1)), at)
    input((at == #line - 1 and 'A' or 'i') .. keys)
    input('<C-x><C-o>')
    local found
    check.eventually(what .. ': the menu offers it', function()
      for index, one in ipairs(words()) do
        if vim.startswith(one, word) then
          found = index
          return true
        end
      end
    end, words)
    if found then
      input(('<C-n>'):rep(found) .. '<C-y>')
    end
    -- A snippet is put in after the menu has closed: the keys that follow have to wait for it.
    local current = function()
      return lua([[return vim.api.nvim_get_current_line()]])
    end
    check.eventually(what .. ': the line is right', function()
      return current():find(wanted)
    end, current)
    input('<Esc>')
    check.eventually(what .. ': Normal mode again', function()
      return vim.rpcrequest(child, 'nvim_get_mode').mode == 'n'
    end)
  end

  local fine, fault = pcall(function()
    local file = with.folder .. '/typed.toml'
    local text = '[adapters.typed]\ndriver = "http"\nurl = "http://127.0.0.1:9"\n\n'
    local out = assert(io.open(file, 'wb'))
    out:write(text)
    out:close()
    lua(SETUP, with.server, file)
    check.eventually('a client attaches in the embedded Neovim', function()
      return lua([[local client = vim.lsp.get_clients({ bufnr = 0 })[1]; return client ~= nil and client.initialized == true]])
    end)
    complete('a key', '@', 'timeo', 'timeout_ms', '^timeout_ms = %d+$')
    local behind = 'a variable behind an emoji'
    complete(behind, 'vars = { pen = "🐼 {{repo.@}}" }', 'sl', 'slug', '^vars = { pen = "🐼 {{repo%.slug}}" }$')
  end)
  pcall(vim.rpcnotify, child, 'nvim_command', 'qall!')
  vim.fn.jobwait({ child }, check.patience)
  assert(fine, fault)
end

return M
