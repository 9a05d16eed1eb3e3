// The configuration files of a Redis or Valkey, made from a spec.
import { join } from "node:path";
import type { CacheSpec } from "../../drivers/driver.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { ownPort, type EngineContext } from "../engine.ts";
import { persistence } from "./persistence.ts";

/** The host's own user in the engine. Customers cannot have this name. */
export const ADMIN_NAME = "pilvi";

/**
 * What a customer may do: everything on keys, but nothing that reaches beyond the cache, reads its settings, or stops it.
 * The named commands are of the dangerous category and are what clients and frameworks need all the same.
 */
const CUSTOMER_RULES = [
  "~*",
  "&*",
  "+@all",
  "-@admin",
  "-@dangerous",
  "+info",
  "+keys",
  "+flushdb",
  "+flushall",
  "+sort",
  "+sort_ro",
  "+role",
];

/** Connections that an engine takes. */
export const MAX_CLIENTS = 10_000;

/** The unix socket's name in the run folder. */
export const SOCKET_NAME = "engine.sock";

/** All files of the configuration folder. */
export function configFiles(context: EngineContext<CacheSpec>): Record<string, string> {
  const files: Record<string, string> = {
    "engine.conf": `${settings(context).join("\n")}\n`,
    "users.acl": `${aclLines(context).join("\n")}\n`,
  };
  if (context.certificate !== null) {
    files["tls.crt"] = context.certificate.cert;
    files["tls.key"] = context.certificate.key;
  }
  return files;
}

function settings(context: EngineContext<CacheSpec>): string[] {
  const { spec, limits, paths } = context;
  return [
    ...listening(context),
    // As seen from the data folder: a socket's path may be short only.
    `unixsocket ../run/${SOCKET_NAME}`,
    "unixsocketperm 770",
    `dir ${quoted(paths.dataDir)}`,
    `aclfile ${quoted(join(paths.confDir, "users.acl"))}`,
    `maxmemory ${limits.memoryBytes}`,
    `maxmemory-policy ${spec.evictionPolicy}`,
    `maxclients ${MAX_CLIENTS}`,
    ...persistence(context),
    "enable-debug-command no",
    "enable-module-command no",
    "enable-protected-configs no",
    "daemonize no",
    'logfile ""',
    "loglevel notice",
    "always-show-logo no",
    "set-proc-title no",
    "tcp-keepalive 60",
  ];
}

function listening({ spec, address, certificate, paths }: EngineContext<CacheSpec>): string[] {
  const port = ownPort(spec.exposure);
  if (port === null) return ["port 0"];
  const bind = `bind ${address}`;
  if (certificate === null) return [bind, `port ${port}`];
  return [
    bind,
    "port 0",
    `tls-port ${port}`,
    `tls-cert-file ${quoted(join(paths.confDir, "tls.crt"))}`,
    `tls-key-file ${quoted(join(paths.confDir, "tls.key"))}`,
    "tls-auth-clients no",
    'tls-protocols "TLSv1.2 TLSv1.3"',
  ];
}

function aclLines({ spec, adminPassword }: EngineContext<CacheSpec>): string[] {
  return [
    `user ${ADMIN_NAME} on #${sha256Hex(adminPassword)} ~* &* +@all`,
    ...spec.users.map((user) => `user ${user.name} on #${user.verifier} ${CUSTOMER_RULES.join(" ")}`),
  ];
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
