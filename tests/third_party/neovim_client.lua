local tools, writing = {}, false

local dispatchers = {
  notification = function(method, params)
    if method == "tool_execution_start" then
      table.insert(tools, params.toolName)
    elseif method == "compaction_progress" then
      writing = true -- The first progress: the summary is being written.
    end
  end,
}
local agent
if vim.fn.has("nvim-0.11") == 1 then
  agent = vim.lsp.rpc.start({ "rpc-agent", "serve" }, dispatchers)
else
  agent = vim.lsp.rpc.start("rpc-agent", { "serve" }, dispatchers)
end

-- Send a request; `arrived` is called with its error or its result.
local function start(method, params, arrived)
  agent.request(method, next(params) and params or vim.empty_dict(), arrived)
end

-- In a plugin the callback does the work; a script that has nothing else to do may wait.
local function call(method, params)
  local done, failure, answer = false, nil, nil
  start(method, params, function(err, result)
    done, failure, answer = true, err, result
  end)
  assert(vim.wait(600000, function() return done end, 20), method .. " was not answered")
  assert(not failure, vim.inspect(failure))
  return answer
end

local hello = call("initialize", {
  protocolVersion = 1,
  clientInfo = { name = "Neovim" },
  processId = vim.loop.os_getpid(),
})
print(("initialize: %s, version %d"):format(hello.serverInfo.name, hello.protocolVersion))

call("prompt", { message = "What files are here?", wait = true })
local result = call("prompt", { message = "Read notes.md", wait = true })
print(("prompt: %s, tools %s"):format(result.stopReason, table.concat(tools, " ")))

local reason
start("compact", {}, function(err)
  reason = err and err.data.reason or "completed"
end)
assert(vim.wait(600000, function() return writing end, 20), "no summary was begun")
print("abort_compaction: " .. tostring(call("abort_compaction", {}).aborted))
assert(vim.wait(600000, function() return reason ~= nil end, 20), "compact was not answered")
print("compact: " .. reason)

local whole = call("compact", {})
print("compact again: " .. (whole.estimatedTokensAfter < whole.tokensBefore and "smaller" or "not smaller"))

call("shutdown", {})
agent.notify("exit", vim.empty_dict())
