// The edge's Lua: says when it is ready, shares requests out among ports, and asks the host to wake instances.
import { EDGE_WAKE_VERSION } from "../../contracts/edge-wake.ts";
import { READY_LINE } from "./ready-line.ts";

/** How long a request waits for its instance, in seconds; the host gives up before. */
const WAKE_SECONDS = 65;

/** The pause between attempts to reach a host that is being started anew, in milliseconds. */
const HOST_RETRY_MS = 50;

/** The pause between attempts to hand lines about requests to a host that is away, in milliseconds. */
const ACCESS_RETRY_MS = 250;

/**
 * The converter `lua.next_port` takes one port of a list after the other. The action `lua.wake` has the host wake the
 * instances of a route. It sets `txn.port` to the port of an instance that runs, or `txn.refusal` to the reason why none
 * does. While no host answers, the action asks again: only a host can wake an instance, and a killed host is back within
 * a second. The action `lua.await_host` ends once the host takes the lines about requests.
 * @param sockets the paths of the host's sockets, from the folder that the edge runs in.
 */
export function luaScript(sockets: { wakes: string; access: string }): string {
  return `core.register_task(function()
  io.stdout:write("${READY_LINE}\\n")
  io.stdout:flush()
end)

local turn = 0

core.register_converters("next_port", function(list)
  local ports = {}
  for port in list:gmatch("%d+") do
    ports[#ports + 1] = port
  end
  turn = (turn + 1) % 1000000007
  return ports[turn % #ports + 1]
end)

local function ask(question)
  local host = core.tcp()
  host:settimeout(${WAKE_SECONDS})
  local line = nil
  if host:connect("unix@${sockets.wakes}") then
    if host:send(question .. "\\n") then
      line = host:receive("*l")
    end
  end
  host:close()
  return line
end

core.register_action("wake", { "http-req" }, function(txn)
  local client = txn.sf:src()
  if client:find(":") ~= nil then
    client = "[" .. client .. "]"
  end
  local question = "${EDGE_WAKE_VERSION} " .. txn:get_var("txn.route") .. " " .. client .. ":" .. txn.sf:src_port()
  local give_up_at = core.now().sec + ${WAKE_SECONDS}
  while core.now().sec < give_up_at do
    local line = ask(question)
    if line ~= nil and line ~= "" then
      local port = tonumber(line)
      if port ~= nil and port > 0 then
        txn:set_var("txn.port", port)
      else
        txn:set_var("txn.refusal", line)
      end
      return
    end
    core.msleep(${HOST_RETRY_MS})
  end
  txn:set_var("txn.refusal", "late")
end, 0)

${awaitHost(sockets.access)}`;
}

function awaitHost(socket: string): string {
  return `core.register_action("await_host", { "tcp-req" }, function()
  while true do
    local host = core.tcp()
    local is_there = host:connect("unix@${socket}")
    host:close()
    if is_there then
      return
    end
    core.msleep(${ACCESS_RETRY_MS})
  end
end, 0)
`;
}
