// The variables by which programs reach other machines as this machine does: its authorities, and its proxies.
import { existsSync } from "node:fs";

/** The authorities that the machine trusts, in the places of the usual distributions. */
const AUTHORITIES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/** Variables for programs that do not look there by themselves. */
const AUTHORITY_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"];

const PROXY_VARIABLES = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"];

/** The variables, of which a proxy's are those of Pilvi itself. */
export function machineNetwork(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const file = AUTHORITIES.find((path) => existsSync(path));
  const authorities = file === undefined ? [] : AUTHORITY_VARIABLES.map((name) => [name, file] as const);
  const proxies = PROXY_VARIABLES.flatMap((name) => [name, name.toUpperCase()]).flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...authorities, ...proxies]);
}
