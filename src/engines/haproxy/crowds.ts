// How many requests of an address and of a route are open at a time. A connection of HTTP/2 carries a hundred requests, each
// with a connection to an application, so bounds on connections of clients alone would leave one address all files.
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { page } from "./pages.ts";
import { IS_LIMITED } from "./policy.ts";

/** The table of the open requests of HTTP/2 of each address. A connection of HTTP/1.1 carries one request at a time. */
const REQUEST_TABLE = "requests";

/** For each connection of a client there is room for so many requests, and for so many that wait for an instance. */
const [REQUESTS_OF_CONNECTION, WAKES_OF_CONNECTION] = [1.5, 0.5];

/** The files that each connection of a client may need: one of its own, those of its requests, and those of wakes. */
export const FILES_OF_CONNECTION = 1 + REQUESTS_OF_CONNECTION + WAKES_OF_CONNECTION;

/**
 * A route or an address may have as many open requests as this part of the room that is left: one alone a third of all
 * room, and the more there are, the less each. So some room is left however many there are.
 */
const SHARE_OF_FREE = 0.5;

/** Up to this part of all requests, nobody has to look at what is left. */
const FEW = 0.01;

/** To ask all backends takes a third of the time of a request, so what was let through since is added meanwhile. */
const COUNT_INTERVAL_MS = 10;

/** HAProxy has two files for each of these. */
export function maxConnections({ maxConnections: connections }: EdgeSpec): number {
  return Math.ceil((connections * FILES_OF_CONNECTION) / 2);
}

function allRequests({ maxConnections: connections }: EdgeSpec): number {
  return Math.floor(connections * REQUESTS_OF_CONNECTION);
}

/** A rule against the requests of a route, which is tracked in `sc1`. */
export function crowdOfRoute(spec: EdgeSpec): string {
  return refusal(503, "sc1_conn_cur", "route", spec);
}

/**
 * Rules against the requests of an address. HAProxy tracks three things at most. The first is the address of the
 * connection, so requests of an address are tracked in the place of clients with a limit.
 */
export function crowdRules(spec: EdgeSpec): string[] {
  return [
    `http-request track-sc2 src,ipmask(32,64) table ${REQUEST_TABLE} if { fc_http_major 2 } !{ ${IS_LIMITED} }`,
    crowdOfAddress(spec),
  ];
}

/** A rule against the requests of an address in all; where clients have a limit, in those of the route. */
export function crowdOfAddress(spec: EdgeSpec): string {
  return refusal(429, "sc2_conn_cur", "address", spec);
}

/** A fetch in Lua takes longer than other rules, so it is asked about many requests alone. */
function refusal(status: 429 | 503, counted: string, of: string, spec: EdgeSpec): string {
  const few = Math.min(spec.maxConnectionsPerAddress, Math.ceil(allRequests(spec) * FEW));
  return `http-request return ${page(status)} hdr retry-after 1 if { ${counted} gt ${few} } { lua.is_crowd_of_${of} -m bool }`;
}

/** The table that the rules count in. */
export function crowdTable(): string[] {
  return [`backend ${REQUEST_TABLE}`, "stick-table type ipv6 size 200k expire 1m store conn_cur"];
}

/** The fetches that the rules use. @param backends the names of all backends that lead to applications. */
export function crowdLua(spec: EdgeSpec, backends: readonly string[]): string {
  return `local backends = { ${backends.map((each) => `"${each}"`).join(", ")} }

local open, counted_at = 0, 0

local function is_beyond_share(txn, count)
  local now = core.now()
  local now_ms = now.sec * 1000 + now.usec // 1000
  if now_ms < counted_at or now_ms >= counted_at + ${COUNT_INTERVAL_MS} then
    open, counted_at = 0, now_ms
    for _, name in ipairs(backends) do
      open = open + txn.f:be_conn(name)
    end
  end
  if count > (${allRequests(spec)} - open) * ${SHARE_OF_FREE} then
    return true
  end
  if txn:get_var("txn.is_counted") == nil then
    txn:set_var("txn.is_counted", true)
    open = open + 1
  end
  return false
end

core.register_fetches("is_crowd_of_address", function(txn)
  local count = txn.f:sc2_conn_cur()
  return count > ${spec.maxConnectionsPerAddress} or is_beyond_share(txn, count)
end)

core.register_fetches("is_crowd_of_route", function(txn)
  return is_beyond_share(txn, txn.f:sc1_conn_cur())
end)
`;
}
