// The configuration files of a Redis or Valkey, made from a spec.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { CUSTOMER_OOM_SCORE } from "../../lib/oom-score.ts";
import { ownPort, type EngineContext } from "../engine.ts";
import type { InstalledEngine } from "../installed-engine.ts";
import { clientMemory } from "./memory.ts";
import { persistence } from "./persistence.ts";

/** The host's own user in the engine. Customers cannot have this name. */
export const ADMIN_NAME = "pilvi";

/**
 * The rights of a customer: everything on keys, but nothing that reaches beyond the cache, reads its settings, or stops
 * it. The named commands are of the dangerous category, and clients and frameworks need them all the same.
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

/** The most connections that an engine takes. */
export const MAX_CLIENTS = 10_000;

/**
 * They are of no dangerous category, yet fork a process for each client or block the engine for the length of its
 * memory.
 */
const DENIED_SUBCOMMANDS = ["-script|debug", "-memory|malloc-stats", "-memory|purge"];
/** Redis 6 can allow a subcommand but cannot deny it. */
const DENIED_SUBCOMMANDS_BEFORE_7 = [
  "-script",
  ...["exists", "flush", "help", "kill", "load"].map((name) => `+script|${name}`),
  "-memory",
  ...["doctor", "help", "stats", "usage"].map((name) => `+memory|${name}`),
];

/** Above the score of every other process that serves customers. */
const SAVING_OOM_SCORE = 800;

const USERS_FILE = "users.acl";

/** The unix socket's name in the run folder. */
export const SOCKET_NAME = "engine.sock";

/** All files of the configuration folder. */
export function configFiles(context: EngineContext<CacheSpec>): Record<string, string> {
  const files: Record<string, string> = {
    "engine.conf": `${settings(context).join("\n")}\n`,
    [USERS_FILE]: `${aclLines(context).join("\n")}\n`,
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
    // Relative to the data folder, since the path of a socket must be short.
    `unixsocket ../run/${SOCKET_NAME}`,
    "unixsocketperm 770",
    `dir ${quoted(paths.dataDir)}`,
    `aclfile ${quoted(join(paths.confDir, USERS_FILE))}`,
    `maxmemory ${limits.memoryBytes}`,
    `maxmemory-policy ${spec.evictionPolicy}`,
    ...(isBefore7(context.installed) ? [] : [`maxmemory-clients ${clientMemory(limits.memoryBytes)}`]),
    `maxclients ${MAX_CLIENTS}`,
    // Out of memory, the kernel ends a child that saves before the cache itself, which tries again later.
    "oom-score-adj absolute",
    `oom-score-adj-values ${CUSTOMER_OOM_SCORE} ${CUSTOMER_OOM_SCORE} ${SAVING_OOM_SCORE}`,
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

/** Whether the engine was started with the rights that a start would give customers now. */
export function hasRules(context: EngineContext<CacheSpec>): boolean {
  return readFileSync(join(context.paths.confDir, USERS_FILE), "utf8").includes(
    customerRules(context).join(" "),
  );
}

function aclLines(context: EngineContext<CacheSpec>): string[] {
  const { spec, adminPassword } = context;
  const rules = customerRules(context).join(" ");
  return [
    `user ${ADMIN_NAME} on #${sha256Hex(adminPassword)} ~* &* +@all`,
    ...spec.users.map((user) => `user ${user.name} on #${user.verifier} ${rules}`),
  ];
}

/** The rights of every user of a customer, as rules of the engine. */
export function customerRules({ installed }: Pick<EngineContext<CacheSpec>, "installed">): string[] {
  return [...CUSTOMER_RULES, ...(isBefore7(installed) ? DENIED_SUBCOMMANDS_BEFORE_7 : DENIED_SUBCOMMANDS)];
}

function isBefore7({ version }: Pick<InstalledEngine, "version">): boolean {
  return Number.parseInt(version) < 7;
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
