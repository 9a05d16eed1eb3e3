// Names of HAProxy's files, sockets and tables. Paths begin at the data folder that it runs in, since the path of a socket
// must be short.

/** The folder of the configuration. */
const CONF = "../conf";

/** The folder of sockets. */
export const RUN = "../run";

export const CONFIG_FILE = "haproxy.cfg";
export const CERTIFICATE_FILE = "edge.pem";
export const SOCKET_NAME = "admin.sock";

/** Where the host's own requests come, which no number of clients keeps out. */
export const PROBE_SOCKET_NAME = "probe.sock";

/**
 * The map from names to routes, and that from routes to where they lead: `PORT,PORT:TIMEOUT:POLICY`, with the time in
 * milliseconds and the policy as `policyText` has it.
 */
export const MAPS = { names: "names.map", targets: "targets.map" } as const;

/** The table of the routes that were used lately, and of their open requests. */
export const ROUTE_TABLE = "routes";

/** The path of a file of the configuration folder, as HAProxy knows it. */
export function confPath(name: string): string {
  return `${CONF}/${name}`;
}
