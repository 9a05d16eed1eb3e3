// HAProxy's configuration. Nothing in it changes with the routes: those stand in maps, which change while it runs.
import { isIPv6 } from "node:net";
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Certificate, EngineContext } from "../engine.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { PORT_HEADER, PROBE_HEADER, USE_MEMORY_MS } from "../edge.ts";
import { luaScript } from "./lua.ts";
import { ACCESS_SOCKET, accessLines, accessProxy, accessRing } from "./access.ts";
import { BOTS_FILE, botsFile } from "./bots.ts";
import { CACHE_FILTERS, cacheRules, cacheSection, endingRules } from "./cache.ts";
import { answerRules, countAdmitted, COUNTED } from "./counters.ts";
import { crowdLua, crowdOfAddress, crowdRules, crowdTable, maxConnections } from "./crowds.ts";
import { ambiguityRules, backendRules, forwardedHeaders } from "./forged.ts";
import { FAILURE_STATUSES, page, pageFiles } from "./pages.ts";
import { confPath, RUN } from "./paths.ts";
import {
  CACHE_VERSION,
  letterOf,
  policyRules,
  policyTables,
  STRICTNESSES,
  type PolicyRules,
  type Strictness,
} from "./policy.ts";

export const CONFIG_FILE = "haproxy.cfg";
export const CERTIFICATE_FILE = "edge.pem";
export const SOCKET_NAME = "admin.sock";
/** Where the host's own requests come, which no number of clients keeps out. */
export const PROBE_SOCKET_NAME = "probe.sock";

/** The host's socket lies beside all instances. */
const WAKE_SOCKET = "../../../run/edge.sock";

/**
 * The map from names to routes, and that from routes to where they lead: `PORT,PORT:TIMEOUT:POLICY`, with the time in
 * milliseconds and the policy as `policyText` has it.
 */
export const MAPS = { names: "names.map", targets: "targets.map" } as const;

/** The table of the routes that were used lately, and of their open requests. */
export const ROUTE_TABLE = "routes";

const COMPRESSED = [
  "text/html",
  "text/plain",
  "text/css",
  "text/javascript",
  "text/xml",
  "application/javascript",
  "application/json",
  "application/manifest+json",
  "application/xml",
  "image/svg+xml",
];

/** It stands in the backends: in the frontend it would come before the cache, which would keep what is compressed. */
const COMPRESSION = ["compression algo gzip", `compression type ${COMPRESSED.join(" ")}`];

/** @throws PublicError when HTTPS has no certificate. */
export function configFiles(context: EngineContext<EdgeSpec>): Record<string, string> {
  const { certificate, spec } = context;
  if (spec.httpsPort !== null && certificate === null)
    throw new PublicError("The edge has no certificate for HTTPS.");
  const applications = backends(spec, policyRules(Buffer.from(challengeSecret(context)).toString("base64")));
  const sections = [
    globalSection(context),
    accessProxy(),
    defaults(),
    accessRing(),
    cacheSection(),
    frontend(context),
    ...applications,
    ...tables(),
  ];
  const names = applications.map(([head = ""]) => head.replace("backend ", ""));
  return {
    [CONFIG_FILE]: `${sections.map((lines) => lines.join("\n  ")).join("\n\n")}\n`,
    "edge.lua": `${luaScript({ wakes: WAKE_SOCKET, access: ACCESS_SOCKET })}\n${crowdLua(spec, names)}`,
    [BOTS_FILE]: botsFile(letterOf),
    ...pageFiles(),
    ...(spec.httpsPort !== null && certificate !== null && { [CERTIFICATE_FILE]: pemOf(certificate) }),
  };
}

/** Certificate and key, as HAProxy reads them: at its socket, an empty line is the end. */
export function pemOf({ cert, key }: Certificate): string {
  const lines = `${cert}\n${key}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  return `${lines.join("\n")}\n`;
}

function globalSection({ spec }: EngineContext<EdgeSpec>): string[] {
  return [
    "global",
    "log stdout format raw daemon notice",
    `lua-load ${confPath("edge.lua")}`,
    `stats socket unix@${RUN}/${SOCKET_NAME} mode 600 level admin`,
    "stats timeout 30s",
    `maxconn ${maxConnections(spec)}`,
    "tune.h2.max-concurrent-streams 100",
    "ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets",
  ];
}

function defaults(): string[] {
  return [
    "defaults",
    "mode http",
    "option dontlognull",
    // A client that leaves while it is held frees its place. HAProxy looks for that from the first bytes on.
    "option abortonclose",
    // PHP and others take `x_forwarded_for` for `x-forwarded-for`, so names with such characters are left out.
    "option http-restrict-req-hdr-names delete",
    "timeout connect 2s",
    "timeout client 60s",
    "timeout client-fin 10s",
    "timeout server 60s",
    "timeout server-fin 10s",
    "timeout tunnel 1h",
    // The headers of a request must be there by then, and the next request of a connection must begin by then.
    "timeout http-request 10s",
    "timeout http-keep-alive 30s",
    "timeout queue 5s",
    // One attempt a second at a port that is refused: until the host has noticed a crash, or the application is back.
    "retries 10",
    ...FAILURE_STATUSES.map((status) => `http-error ${page(status)}`),
  ];
}

function frontend(context: EngineContext<EdgeSpec>): string[] {
  const { spec, address } = context;
  const at = (port: number) => `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const { exposure, httpsPort } = spec;
  if (exposure.port === null) throw new PublicError("The edge has no port to listen at.");
  return [
    "frontend clients",
    `bind ${at(exposure.port)}`,
    ...(httpsPort === null
      ? []
      : [`bind ${at(httpsPort)} ssl crt ${confPath(CERTIFICATE_FILE)} alpn h2,http/1.1`]),
    `bind unix@${RUN}/${PROBE_SOCKET_NAME} name host mode 600`,
    `maxconn ${spec.maxConnections}`,
    // Clients of IPv6 have whole networks of addresses.
    "tcp-request connection track-sc0 src,ipmask(32,64) table addresses",
    `tcp-request connection reject if { sc0_conn_cur gt ${spec.maxConnectionsPerAddress} }`,
    // A connection by the host's socket has no addresses, so rules and applications see those of the port.
    "http-request set-src str(127.0.0.1) if { so_name host }",
    `http-request set-dst-port int(${exposure.port}) if { so_name host }`,
    "unique-id-format %[uuid()]",
    "http-after-response set-header X-Request-Id %[unique-id]",
    // Most requests have the very name of a route. Others have it with a port, and with the dot of a whole name.
    `http-request set-var(txn.route) req.fhdr(host),map_str(${confPath(MAPS.names)})`,
    "http-request set-var(txn.host) req.fhdr(host),field(1,:),lower,rtrim(.) unless { var(txn.route) -m found }",
    `http-request set-var(txn.route) var(txn.host),map_str(${confPath(MAPS.names)}) if { var(txn.host) -m found }`,
    // The edge counts a request before it chooses a target. So a count after a change of the target misses none.
    `http-request track-sc1 var(txn.route) table ${ROUTE_TABLE}`,
    `http-request set-var(txn.target) var(txn.route),map_str(${confPath(MAPS.targets)})`,
    `http-request set-var(txn.probe) bool(true) if { req.hdr(${PROBE_HEADER}) -m str ${probeSecret(context)} }`,
    ...answerRules(),
    ...accessLines(),
    `http-request return ${page(404)} unless { var(txn.target) -m found }`,
    ...ambiguityRules(),
    ...crowdRules(spec),
    ...forwardedHeaders(),
    // An application cannot say that another has answered.
    `http-response del-header ${PORT_HEADER}`,
    `http-response set-header ${PORT_HEADER} %[var(txn.port)] if { var(txn.probe) -m bool }`,
    "http-request set-var(txn.port) var(txn.target),field(1,:)",
    "http-request set-var(txn.port) var(txn.port),lua.next_port if { var(txn.port) -m sub , }",
    "http-request set-dst-port var(txn.port)",
    "use_backend sleeping if { var(txn.port) -m str 0 }",
    ...backendRules(),
  ];
}

/** Derived from the secret of the instance, so that it stays the same for an edge that runs on. */
export function probeSecret({ adminPassword }: EngineContext<EdgeSpec>): string {
  return sha256Hex(`probe ${adminPassword}`);
}

function challengeSecret({ adminPassword }: EngineContext<EdgeSpec>): string {
  return sha256Hex(`challenge ${adminPassword}`);
}

/** A client may have closed its own side only, which is no reason to give up a request that an application has. */
const ANSWERED_ANYWAY = ["no option abortonclose"];

const TIMEOUT = "http-request set-timeout server var(txn.target),field(2,:)";

/**
 * An application may close a connection that it has kept, just when a request is on its way there. A GET is then sent
 * again. Another request might take effect twice, so it gets a connection of its own.
 */
const REPEATED = [
  countAdmitted,
  TIMEOUT,
  ...ANSWERED_ANYWAY,
  "http-reuse always",
  "retry-on conn-failure empty-response",
  "server application 127.0.0.1",
];
const NOT_REPEATED = [
  countAdmitted,
  TIMEOUT,
  "option http-server-close",
  "http-reuse never",
  "server application 127.0.0.1",
];

/** The backends that lead to applications. */
function backends(spec: EdgeSpec, policies: Record<Strictness, PolicyRules>): string[][] {
  const { strict } = policies;
  const rules = {
    ...policies,
    strict: { ...strict, requests: [...strict.requests, crowdOfAddress(spec)] },
  };
  return [
    ...STRICTNESSES.flatMap((each) => {
      const { requests, answers } = rules[each];
      const common = [...COMPRESSION, ...requests, ...answers];
      return [
        [`backend ${each}-repeatable`, ...common, ...REPEATED],
        [`backend ${each}-unrepeatable`, ...common, ...NOT_REPEATED],
      ];
    }),
    ...(["lenient", "strict"] as const).flatMap((each) => {
      const { requests, answers } = rules[each];
      // What is kept has none of the headers of the policy, which may change.
      const common = [
        ...CACHE_FILTERS,
        ...COMPRESSION,
        ...requests,
        ...cacheRules(CACHE_VERSION),
        ...answers,
      ];
      return [
        [`backend ${each}-cached-repeatable`, ...common, ...REPEATED],
        [`backend ${each}-cached-unrepeatable`, ...common, ...NOT_REPEATED],
      ];
    }),
    [
      "backend sleeping",
      ...CACHE_FILTERS,
      ...COMPRESSION,
      ...rules.strict.requests,
      ...endingRules(CACHE_VERSION),
      ...rules.strict.answers,
      countAdmitted,
      TIMEOUT,
      "option http-server-close",
      "http-reuse never",
      "http-request lua.wake",
      `http-request return ${page(503)} hdr retry-after 2 if { var(txn.refusal) -m found }`,
      "http-request set-dst-port var(txn.port)",
      "server application 127.0.0.1",
    ],
  ];
}

/** Backends that lead nowhere, and have the tables that the others count in. */
function tables(): string[][] {
  return [
    ["backend addresses", "stick-table type ipv6 size 200k expire 1m store conn_cur"],
    [
      `backend ${ROUTE_TABLE}`,
      `stick-table type string len 64 size 100k expire ${USE_MEMORY_MS}ms store ${COUNTED}`,
    ],
    crowdTable(),
    policyTables(),
  ];
}
