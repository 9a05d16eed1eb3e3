// Lines about requests: what they say, and how they get from the edge to the host.
import { countUnlogged } from "./counters.ts";
import { RUN } from "./paths.ts";

/** The host's socket for them lies beside all instances. */
export const ACCESS_SOCKET = "../../../run/access.sock";
/** Between the ring and the proxy in front of the host's socket. */
const LINES_SOCKET = `${RUN}/lines.sock`;

/** What the edge keeps of requests in memory while the host is away; a line is longer than its texts when escaped. */
const [ACCESS_BYTES, ACCESS_LINE_BYTES] = [4 * 1024 ** 2, 8_192];

/** The requests of a route in a second that are logged; the edge counts the others. */
const LOGGED_REQUESTS_PER_SECOND = 500;

/** Lines about requests, in memory until the host has read them. The edge waits for nobody: without room it leaves out. */
export function accessRing(): string[] {
  return [
    "ring access",
    "format raw",
    `maxlen ${ACCESS_LINE_BYTES}`,
    `size ${ACCESS_BYTES}`,
    "timeout connect 1s",
    "timeout server 10s",
    `server host unix@${LINES_SOCKET}`,
  ];
}

/**
 * Passes the lines on to the host. A ring whose server refuses it tries again at once and for ever, which would take the
 * processor from all requests while the host is away. So the ring has a server that always takes it, and waits there.
 */
export function accessProxy(): string[] {
  return [
    "listen access-lines",
    "mode tcp",
    `bind unix@${LINES_SOCKET} mode 600`,
    "timeout connect 1s",
    "timeout client 24d",
    "timeout server 24d",
    "tcp-request inspect-delay 24d",
    "tcp-request content lua.await_host",
    `server host unix@${ACCESS_SOCKET}`,
  ];
}

/** A member with a text of the client's. */
function textMember(name: string, text: string): string {
  return `"${name}":"%[${text},json(utf8s)]"`;
}

/**
 * A line of JSON about a request. Texts of clients come last and are bounded; a query may have secrets, and is left out.
 * A request without such texts has no line: neither those for no route are logged nor those of a flood.
 */
export function accessLines(): string[] {
  const members = [
    `"r":"%[var(txn.route)]"`,
    `"s":%ST,"b":%B,"d":%Ta,"t":%Td`,
    `"i":"%[src]"`,
    "%[var(txn.texts)]",
  ];
  const texts = [
    textMember("m", "method,bytes(0,16)"),
    textMember("p", "path,bytes(0,1024)"),
    textMember("u", "req.fhdr(user-agent),bytes(0,256)"),
  ];
  return [
    `log ring@access len ${ACCESS_LINE_BYTES} format raw daemon info`,
    `log-format '{${members.join(",")}}'`,
    `acl is_flood sc1_http_req_rate gt ${LOGGED_REQUESTS_PER_SECOND}`,
    `http-request set-var-fmt(txn.texts) '${texts.join(",")}' if { var(txn.target) -m found } !is_flood`,
    // A variable takes less time than another look at the rate.
    `${countUnlogged} if { var(txn.target) -m found } !{ var(txn.texts) -m found }`,
    "http-request set-log-level silent unless { var(txn.texts) -m found }",
  ];
}
