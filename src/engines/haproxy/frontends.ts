// Where requests come in, and the rules for all of them: one frontend for clients, and one for the host's own requests,
// which no number of clients keeps out and which clients cannot reach.
import { isIPv6 } from "node:net";
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { PublicError } from "../../lib/errors.ts";
import { PORT_HEADER } from "../edge.ts";
import type { EngineContext } from "../engine.ts";
import { accessLines } from "./access.ts";
import { answerRules, countSince } from "./counters.ts";
import { crowdOfRoute, crowdRules } from "./crowds.ts";
import {
  backendRules,
  CONDITIONS,
  endPlain,
  forwardedHeaders,
  IS_NAME,
  otherRules,
  refuseHosts,
} from "./forged.ts";
import { page } from "./pages.ts";
import { CERTIFICATE_FILE, confPath, MAPS, PROBE_SOCKET_NAME, ROUTE_TABLE, RUN } from "./paths.ts";

/**
 * How many requests of the host are open at a time; further requests wait. An application may keep a request for several
 * times as long as the host waits for it, so there is room for several requests of each run of an organization.
 */
export const MAX_PROBES = 512;

export function clientFrontend({ spec, address }: EngineContext<EdgeSpec>): string[] {
  const at = (port: number) => `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const { httpsPort } = spec;
  return [
    "frontend clients",
    `bind ${at(httpPortOf(spec))}`,
    ...(httpsPort === null
      ? []
      : [`bind ${at(httpsPort)} ssl crt ${confPath(CERTIFICATE_FILE)} alpn h2,http/1.1`]),
    `maxconn ${spec.maxConnections}`,
    // Clients of IPv6 have whole networks of addresses.
    "tcp-request connection track-sc0 src,ipmask(32,64) table addresses",
    `tcp-request connection reject if { sc0_conn_cur gt ${spec.maxConnectionsPerAddress} }`,
    ...requestIds(),
    ...targetRules(),
    ...answerRules(),
    ...accessLines(),
    crowdOfRoute(spec),
    ...commonRules(spec),
  ];
}

/** Its requests are neither logged nor counted as answered, and learn which instance has answered. */
export function hostFrontend({ spec }: EngineContext<EdgeSpec>): string[] {
  return [
    "frontend host",
    `bind unix@${RUN}/${PROBE_SOCKET_NAME} mode 600`,
    `maxconn ${MAX_PROBES}`,
    // A unix socket has no IP addresses, so these rules set those of a client of this machine at the port.
    "http-request set-src str(127.0.0.1)",
    `http-request set-dst-port int(${httpPortOf(spec)})`,
    "http-request set-var(txn.probe) bool(true)",
    ...requestIds(),
    ...targetRules(),
    ...commonRules(spec),
    `http-response set-header ${PORT_HEADER} %[dst_port]`,
  ];
}

function httpPortOf({ exposure }: EdgeSpec): number {
  if (exposure.port === null) throw new PublicError("The edge has no port to listen at.");
  return exposure.port;
}

function requestIds(): string[] {
  return ["unique-id-format %[uuid()]", "http-after-response set-header X-Request-Id %[unique-id]"];
}

/** Finds the route of a request, and where it leads. */
function targetRules(): string[] {
  const routeOfName = `map_str(${confPath(MAPS.names)})`;
  return [
    // Most requests have the very name of a route. Others have it with a port, and with the dot of a whole name.
    `http-request set-var(txn.route) req.fhdr(host),${routeOfName}`,
    `http-request set-var(txn.route) req.fhdr(host),field(1,:),lower,rtrim(.),${routeOfName} if !{ var(txn.route) -m found } { ${IS_NAME} }`,
    // The edge counts a request before it chooses a target. So a count after a change of the target misses none.
    `http-request track-sc1 var(txn.route) table ${ROUTE_TABLE}`,
    countSince,
    `http-request set-var(txn.target) var(txn.route),map_str(${confPath(MAPS.targets)})`,
  ];
}

function commonRules(spec: EdgeSpec): string[] {
  return [
    refuseHosts,
    `http-request return ${page(404)} unless { var(txn.target) -m found }`,
    ...forwardedHeaders(),
    endPlain,
    ...crowdRules(spec),
    ...CONDITIONS,
    ...otherRules(),
    ...backendRules(),
  ];
}
