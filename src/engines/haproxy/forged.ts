// Rules against requests that would have an application believe a client, or that two servers could read differently.
import { PROBE_HEADER } from "../edge.ts";
import { cacheBackends, markRules } from "./cache.ts";
import { page } from "./pages.ts";
import { CACHE_VERSION, IS_LENIENT, IS_USUAL } from "./policy.ts";

/**
 * Headers with which applications judge who asks, and which clients must not set. Those of other networks in front of the
 * edge, such as `CF-Connecting-IP`, are not among them: an application has to know its network anyway.
 */
const REPLACED_HEADERS = [
  "x-(forwarded|original)-.*",
  "forwarded",
  "proxy",
  "(x-(cluster-)?)?client-ip",
  "x-rewrite-url",
  "x-real-ip",
  "x-request-id",
  PROBE_HEADER,
];

/** How long a client may take to begin a body that it has not announced. */
const BODY_SECONDS = 10;

/** Headers about the connection between two servers. */
const CONNECTION_HEADERS = ["connection", "upgrade", "http2-settings"];

/**
 * A name with at most one last dot, or an address, and a port. Applications make links of it, so nothing else may stand
 * there.
 */
const HOST = "'^([a-z0-9_-]+([.][a-z0-9_-]+)*[.]?|[[][0-9a-f:.]+[]])(:[0-9]{0,5})?$'";

/** What the edge lets through of methods that HTTP itself knows; applications may have others. */
const ALLOWED = '"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"';

/** Whether a `Host` is a name. The name of a route, as it stands in the map, needs no such look. */
export const IS_NAME = `req.fhdr(host) -m reg -i ${HOST}`;

/** Refuses a `Host` that is no name, which no route has. A request without the header is for no route. */
export const refuseHosts = `http-request return ${page(400)} if !{ var(txn.target) -m found } { req.fhdr(host) -m found } !{ ${IS_NAME} }`;

/**
 * Refuses requests that two servers could read differently, or that open a tunnel past the rules of the edge. All of them
 * have a body or a method for which `backendRules` chooses a backend that repeats nothing, so it stands there.
 */
export const REFUSED_REQUESTS = [
  // Servers of HTTP/1.0 know no chunks, so they take the body for further requests.
  `http-request return ${page(400)} if HTTP_1.0 { req.hdr_cnt(transfer-encoding) gt 0 }`,
  // What follows a CONNECT would reach the application unread, and a TRACE echoes what scripts must not see.
  `http-request return ${page(405)} hdr allow ${ALLOWED} if { method CONNECT TRACE }`,
];

/**
 * Sets the headers that say who asks, in place of those of the client, and those about the connection. A client that
 * names other headers in `Connection` would have a server of the application drop them, and a client that offers HTTP/2
 * would get a tunnel past the rules of the edge.
 */
export function forwardedHeaders(): string[] {
  return [
    "http-request set-var(txn.websocket) bool(true) if { req.hdr(upgrade) -m str -i websocket }",
    "acl is_websocket var(txn.websocket) -m bool",
    // A walk through the headers costs more than the expression, so all of them go in the same walk.
    `http-request del-header ^(${[...CONNECTION_HEADERS, ...REPLACED_HEADERS].join("|")})$ -m reg`,
    // All headers of these names are gone, so none has to be looked for once more.
    "option forwardfor",
    "http-request add-header X-Real-Ip %[src]",
    "http-request add-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]",
    "http-request add-header X-Forwarded-Host %[req.fhdr(host)]",
    "http-request add-header X-Forwarded-Port %[dst_port]",
    "http-request add-header X-Request-Id %[unique-id]",
  ];
}

/** The conditions of `otherRules` and `backendRules`. */
export const CONDITIONS = [
  "acl has_body req.hdr_cnt(content-length) gt 0",
  "acl has_body req.hdr_cnt(transfer-encoding) gt 0",
  "acl is_repeatable method GET HEAD OPTIONS",
];

/** Ends the rules of the frontend for most requests. The rules after it are for HTTP/2, whole addresses and WebSockets. */
export const endPlain = "http-request allow if { fc_http_major 1 } { url_beg / } !is_websocket";

/** Rules for requests that are not plain. */
export function otherRules(): string[] {
  return [
    // A whole address becomes its path, and an address without a path the first page.
    "http-request set-uri %[pathq] if !{ url_beg / } { pathq -m beg / }",
    "http-request set-uri /%[pathq] unless { url_beg / } or { url -m str * }",
    "http-request add-header Connection upgrade if is_websocket",
    "http-request add-header Upgrade websocket if is_websocket",
    // HTTP/2 and HTTP/3 need no header for a body: only its first byte shows that there is a body.
    `http-request wait-for-body time ${BODY_SECONDS}s at-least 1 if { req.ver -m beg 2 3 } is_repeatable !has_body`,
  ];
}

/**
 * Chooses the backend of an application, or that which wakes it. A body has a connection of its own, whatever the
 * method: an application that does not read it would take it for the beginning of the next client's request.
 */
export function backendRules(): string[] {
  return [
    "acl has_body req.body_len gt 0",
    `acl is_usual ${IS_USUAL}`,
    `acl is_lenient ${IS_LENIENT}`,
    ...markRules(),
    // Most requests, decided with the fewest conditions.
    "use_backend usual-repeatable if !has_marked_answers is_usual is_repeatable !has_body",
    "use_backend usual-unrepeatable if !has_marked_answers is_usual",
    "use_backend sleeping if { var(txn.target) -m beg 0: }",
    ...cacheBackends(CACHE_VERSION),
    "use_backend lenient-repeatable if is_lenient is_repeatable !has_body",
    "use_backend lenient-unrepeatable if is_lenient",
    "use_backend strict-repeatable if is_repeatable !has_body",
    "default_backend strict-unrepeatable",
  ];
}
