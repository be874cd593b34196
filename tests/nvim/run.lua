-- kontext-ls in a real editor: Neovim's own client, the real binary, a scratch workspace.
-- Started by tests/nvim/run, which isolates the environment.

local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
package.path = here .. '/?.lua;' .. package.path
local check = require('check')

local server = vim.env.KONTEXT_TEST_SERVER
local scratch = vim.env.KONTEXT_TEST_SCRATCH
local work = scratch .. '/work'
local bare = scratch .. '/bare'

local function write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

-- A repository as git lays it out, without git.
for _, folder in ipairs({ 'objects/info', 'objects/pack', 'refs/heads' }) do
  vim.fn.mkdir(work .. '/.git/' .. folder, 'p')
end
write(work .. '/.git/HEAD', 'ref: refs/heads/main\n')
write(
  work .. '/.git/config',
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = git@example.org:zoo/pens.git\n'
)

local clone = work .. '/.git/kontext/config.toml'
local shared = work .. '/.kontext.toml'
local CLONE = [=[
# 🐼 where the keepers write
[adapters.notes]
driver = "http"
base_url = "http://127.0.0.1:9"
enabeld = true
when = { env = "PANDA_TOKEN" }
vars = { pen = "🐼 {{repo.slug|uper}}" }

[adapters.notes.ops.search]
path = "/search"
query = { q = "{{query}}", pen = "{{vars.pen}}" }
items = "results[*]"
]=]
local SHARED = '[adapters.diary]\ndriver = "comand"\ncommand = ["true"]\n'
write(clone, CLONE)
write(shared, SHARED)
write(bare .. '/.kontext.toml', '[adapters.alone]\ndriver = "command"\ncommand = ["true"]\nweigth = 1\n')

-- What the server sends and how its process ends, as Neovim's client sees it.
local pushed, ended = 0, {}
local push = vim.lsp.handlers['textDocument/publishDiagnostics']
vim.lsp.handlers['textDocument/publishDiagnostics'] = function(...)
  pushed = pushed + 1
  return push(...)
end

vim.lsp.config('kontext', {
  cmd = { server },
  filetypes = { 'toml' },
  root_markers = { '.git' },
  on_exit = function(code, signal, id)
    ended[id] = { code = code, signal = signal }
  end,
})
vim.lsp.enable('kontext')
vim.cmd('filetype plugin on')

local function clients(buffer)
  return vim.lsp.get_clients({ bufnr = buffer, name = 'kontext' })
end

local function attached(what, buffer)
  check.eventually(what, function()
    local client = clients(buffer)[1]
    return client and client.initialized
  end)
  return clients(buffer)[1]
end

local function open(path)
  vim.cmd.edit(vim.fn.fnameescape(path))
  return vim.api.nvim_get_current_buf()
end

local function lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

--- The first place of `text`: zero-based line, and column in bytes.
local function find(buffer, text)
  for number, line in ipairs(lines(buffer)) do
    local column = line:find(text, 1, true)
    if column then
      return number - 1, column - 1
    end
  end
  error('not in the buffer: ' .. text)
end

--- Replaces the first `old` by `new`, as typing would: one edit of the buffer, nothing saved.
local function replace(buffer, old, new)
  local line, column = find(buffer, old)
  vim.api.nvim_buf_set_text(buffer, line, column, line, column + #old, vim.split(new, '\n'))
end

--- Asks about the place `after` bytes behind the start of the first `text`.
local function ask(buffer, method, text, after)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  if text then
    local line, column = find(buffer, text)
    params.position = { line = line, character = column + (after or 0) }
  end
  local client = assert(clients(buffer)[1], 'no client')
  local answer, fault = client:request_sync(method, params, check.patience, buffer)
  assert(answer, fault)
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

local function codes(buffer)
  return vim.tbl_map(function(one)
    return one.code
  end, vim.diagnostic.get(buffer))
end

local function diagnostic(buffer, code)
  return vim.iter(vim.diagnostic.get(buffer)):find(function(one)
    return one.code == code
  end)
end

local function range(one)
  return one and { one.lnum, one.col, one.end_lnum, one.end_col }
end

local function hints(buffer)
  return vim
    .iter(vim.lsp.inlay_hint.get({ bufnr = buffer }))
    :map(function(one)
      local label = one.inlay_hint.label
      if type(label) == 'table' then
        label = vim.iter(label):map(function(part) return part.value end):join('')
      end
      return label
    end)
    :join(' / ')
end

local function hover(buffer, text, after)
  local found = ask(buffer, 'textDocument/hover', text, after)
  return found and found.contents and (found.contents.value or vim.inspect(found.contents)) or ''
end

--- The offered item of that label, and all labels.
local function offered(buffer, text, label)
  local found = ask(buffer, 'textDocument/completion', text, #text) or {}
  local defaults = found.itemDefaults or {}
  local items = found.items or found
  local item = vim.iter(items):find(function(one)
    return one.label == label
  end)
  if item and not item.textEdit and defaults.editRange then
    item.textEdit = { range = defaults.editRange.insert or defaults.editRange, newText = item.textEditText or item.label }
  end
  return item, vim.iter(items):map(function(one) return one.label end):take(15):totable()
end

local main, client

check.part('a layer file in a repository', function()
  main = open(clone)
  client = attached('the client attaches', main)
  check.equal('the root is the repository', client.root_dir, work)
  check.equal('positions are in UTF-8', client.offset_encoding, 'utf-8')
  -- Neovim 0.11 pulls, but cannot be told to pull again: what it pulled would go stale.
  check.ok('no pulling is offered', not client.server_capabilities.diagnosticProvider, client.server_capabilities)
end)

check.part('diagnostics', function()
  check.eventually('the two faults are shown, and nothing else', function()
    local seen = codes(main)
    table.sort(seen)
    return vim.deep_equal(seen, { 'unknown-filter', 'unknown-key' })
  end, function()
    return vim.diagnostic.get(main)
  end)
  local typo = diagnostic(main, 'unknown-key')
  local line, column = find(main, 'enabeld')
  check.equal('the misspelt key has its exact range', range(typo), { line, column, line, column + #'enabeld' })
  check.equal('its severity is error', typo and typo.severity, vim.diagnostic.severity.ERROR)
  check.equal('its source is named', typo and typo.source, 'kontext')
  check.ok('the message names the key that was meant', typo and typo.message:find('enabled', 1, true), typo)
  line, column = find(main, 'uper')
  check.equal(
    'the range behind an emoji is exact',
    range(diagnostic(main, 'unknown-filter')),
    { line, column, line, column + #'uper' }
  )
  replace(main, 'enabeld', 'enabled')
  replace(main, 'uper', 'upper')
  check.eventually('an unsaved fix clears them', function()
    return #vim.diagnostic.get(main) == 0
  end, function()
    return codes(main)
  end)
  check.ok('the buffer is not saved', vim.bo[main].modified)
  check.ok('diagnostics are pushed', pushed > 0, pushed)
end)

check.part('when: hover and inlay hint follow the unsaved text', function()
  vim.lsp.inlay_hint.enable(true, { bufnr = main })
  check.eventually('a hint says that the adapter is inactive', function()
    return hints(main):find('inactive', 1, true)
  end, function()
    return hints(main)
  end)
  local text = hover(main, 'when', 1)
  check.ok('hover on `when` names the condition', text:find('PANDA_TOKEN', 1, true), text)
  check.ok('and its verdict', text:find('not set', 1, true), text)
  replace(main, '"PANDA_TOKEN"', '"HOME"')
  check.eventually('after the edit the hint says active', function()
    local seen = hints(main)
    return seen:find('active', 1, true) and not seen:find('inactive', 1, true)
  end, function()
    return hints(main)
  end)
  text = hover(main, 'when', 1)
  check.ok('and hover no longer has the old reason', text:find('HOME', 1, true) and not text:find('PANDA_TOKEN', 1, true), text)
  check.ok('a value of the environment is never shown', not text:find(vim.env.HOME, 1, true), text)
end)

check.part('completion', function()
  local row = find(main, 'when')
  vim.api.nvim_buf_set_lines(main, row, row, false, { 'timeo' })
  local item, labels = offered(main, 'timeo', 'timeout_ms')
  check.ok('a half-typed key is completed', item, labels)
  local edit = item and item.textEdit
  check.equal(
    'the edit replaces what is typed',
    edit and (edit.range or edit.replace),
    { start = { line = row, character = 0 }, ['end'] = { line = row, character = #'timeo' } }
  )
  check.ok('a field that is there already is not offered', not select(1, offered(main, 'timeo', 'driver')), labels)
  vim.api.nvim_buf_set_lines(main, row, row + 1, false, {})

  replace(main, 'repo.slug|upper', 'repo.sl')
  item, labels = offered(main, '{{repo.sl', 'slug')
  check.ok('a variable is completed behind an emoji', item, labels)
  if item and item.textEdit then
    vim.lsp.util.apply_text_edits({ { range = item.textEdit.range or item.textEdit.replace, newText = item.textEdit.newText } }, main, 'utf-8')
  end
  check.equal('its edit gives the right line', lines(main)[find(main, 'vars = ') + 1], 'vars = { pen = "🐼 {{repo.slug}}" }')
end)

check.part('document symbols', function()
  local names = {}
  local function collect(symbols)
    for _, one in ipairs(symbols or {}) do
      names[#names + 1] = one.name
      collect(one.children)
    end
  end
  collect(ask(main, 'textDocument/documentSymbol'))
  for _, name in ipairs({ 'notes', 'when', 'search' }) do
    check.ok(('`%s` is in the outline'):format(name), vim.tbl_contains(names, name), names)
  end
end)

check.part('formatting', function()
  replace(main, 'driver = "http"', 'driver="http"   # 🐼 kept')
  vim.lsp.buf.format({ bufnr = main, timeout_ms = check.patience, name = 'kontext' })
  check.equal('the blanks are put right and the comment is kept', (lines(main)[3]:gsub('%s+#', ' #')), 'driver = "http" # 🐼 kept')
  check.equal('the line with the emoji is untouched', lines(main)[find(main, 'vars = ') + 1], 'vars = { pen = "🐼 {{repo.slug}}" }')
end)

check.part('a second buffer', function()
  local second = open(shared)
  attached('the client attaches', second)
  check.equal('it is the same server', #vim.lsp.get_clients({ name = 'kontext' }), 1)
  check.eventually('it has diagnostics of its own', function()
    return diagnostic(second, 'invalid-value')
  end, function()
    return vim.diagnostic.get(second)
  end)
  local line, column = find(second, '"comand"')
  local seen = range(diagnostic(second, 'invalid-value')) or {}
  check.ok('at the value', seen[1] == line and seen[2] >= column and seen[4] <= column + #'"comand"', seen)
  check.equal('the first buffer keeps its own', codes(main), {})
  replace(second, 'comand', 'command')
  check.eventually('an edit there clears it', function()
    return not diagnostic(second, 'invalid-value')
  end, function()
    return codes(second)
  end)
end)

check.part('typing in Insert mode', function()
  local insert = require('insert')
  insert.run({ server = server, folder = work, check = check })
end)

check.part('the end of the server', function()
  local id = client.id
  client:stop()
  check.eventually('the process ends', function()
    return ended[id]
  end)
  check.equal('with code 0 and by itself', ended[id], { code = 0, signal = 0 })
end)

check.part('a folder without a repository', function()
  local alone = open(bare .. '/.kontext.toml')
  local second = attached('a client attaches', alone)
  check.equal('it has no root', second.root_dir, nil)
  check.eventually('the fault is shown', function()
    return diagnostic(alone, 'unknown-key')
  end, function()
    return vim.diagnostic.get(alone)
  end)
  second:stop()
  check.eventually('the process ends', function()
    return ended[second.id]
  end)
end)

check.part('a client that pulls', function()
  vim.lsp.enable('kontext', false)
  local buffer = open(work .. '/pulled.toml')
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { '[adapters.a]', 'driver = "http"', 'url = "http://127.0.0.1:9/{{repo.id|uper}}"' })
  pushed = 0
  local id = vim.lsp.start({
    name = 'kontext-pull',
    cmd = { server },
    root_dir = work,
    before_init = function(params)
      params.capabilities.workspace.diagnostics = { refreshSupport = true }
    end,
    on_exit = function(code, signal, which)
      ended[which] = { code = code, signal = signal }
    end,
  }, { bufnr = buffer })
  check.ok('it starts', id)
  check.eventually('it is offered diagnostics to pull, and shows them', function()
    local pulling = id and vim.lsp.get_client_by_id(id)
    return pulling and pulling.server_capabilities and pulling.server_capabilities.diagnosticProvider and diagnostic(buffer, 'unknown-filter')
  end, function()
    return codes(buffer)
  end)
  check.equal('nothing is pushed to it', pushed, 0)
  local pulling = vim.lsp.get_client_by_id(id)
  pulling:stop()
  check.eventually('its process ends', function()
    return ended[id]
  end)
end)

check.part('a client that does not pull', function()
  local buffer = open(work .. '/pushed.toml')
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { '[adapters.a]', 'driver = "http"', 'url = "http://127.0.0.1:9"', 'vars = { a = "🐼 {{repo.id|uper}}" }' })
  pushed = 0
  local id = vim.lsp.start({
    name = 'kontext',
    cmd = { server },
    root_dir = work,
    before_init = function(params)
      params.capabilities.textDocument.diagnostic = nil
      params.capabilities.general.positionEncodings = { 'utf-16' }
    end,
    on_exit = function(code, signal, which)
      ended[which] = { code = code, signal = signal }
    end,
  }, { bufnr = buffer })
  check.ok('it starts', id)
  check.eventually('diagnostics are pushed', function()
    return pushed > 0 and diagnostic(buffer, 'unknown-filter')
  end, function()
    return { pushed, vim.diagnostic.get(buffer) }
  end)
  -- Neovim translates UTF-16 to bytes: a wrong count on either side shows here.
  local line, column = find(buffer, 'uper')
  check.equal(
    'and the range behind an emoji is exact in UTF-16',
    range(diagnostic(buffer, 'unknown-filter')),
    { line, column, line, column + #'uper' }
  )
  replace(buffer, 'uper', 'upper')
  check.eventually('a fix is pushed too', function()
    return not diagnostic(buffer, 'unknown-filter')
  end, function()
    return codes(buffer)
  end)
  vim.lsp.get_client_by_id(id):stop()
  check.eventually('the process ends', function()
    return ended[id]
  end)
end)

check.finish()
