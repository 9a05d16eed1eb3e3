// The configuration files of a Redis or Valkey, made from a spec.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { CUSTOMER_OOM_SCORE } from "../../lib/oom-score.ts";
import { ownPort, type EngineContext } from "../engine.ts";
import type { InstalledEngine } from "../installed-engine.ts";
import { clientMemory, MAX_CLIENTS, OWN_CLIENTS } from "./memory.ts";
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
  "+client|list",
];

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

/** The users with their passwords and rights; a change of them needs no restart, see `setUsers`. */
export const USERS_FILE = "users.acl";

/** The unix socket's name in the run folder. */
export const SOCKET_NAME = "engine.sock";

/** All files of the configuration folder. */
export function configFiles(context: EngineContext<CacheSpec>): Record<string, string> {
  return {
    "engine.conf": `${settings(context).join("\n")}\n`,
    [USERS_FILE]: usersFile(context),
  };
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
    `maxclients ${MAX_CLIENTS + OWN_CLIENTS}`,
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

/** For this machine alone, in clear: other machines reach a cache through the gateway. */
function listening({ spec, address }: EngineContext<CacheSpec>): string[] {
  const port = ownPort(spec.exposure);
  return port === null ? ["port 0"] : [`bind ${address}`, `port ${port}`];
}

/** The file of users that the engine was started with, or was brought to since. */
export function readUsersFile({ paths }: EngineContext<CacheSpec>): string {
  return readFileSync(join(paths.confDir, USERS_FILE), "utf8");
}

/** The file of users by the spec. */
export function usersFile({ spec, adminPassword, installed }: EngineContext<CacheSpec>): string {
  const lines = [
    `user ${ADMIN_NAME} on #${sha256Hex(adminPassword)} ~* &* +@all`,
    ...spec.users.map((user) => ["user", user.name, "on", ...userRules(user, installed)].join(" ")),
  ];
  return `${lines.join("\n")}\n`;
}

/** The passwords and the rights of a customer's user, as rules of the engine. */
export function userRules(user: InstanceUser, installed: Pick<InstalledEngine, "version">): string[] {
  return [...passwordsOf(user), ...customerRules(installed)];
}

/** The rules that let a user log in with its current password, and with the former password until that ends. */
export function passwordsOf({ verifier, former }: InstanceUser): string[] {
  return [`#${verifier}`, ...(former === undefined ? [] : [`#${former.verifier}`])];
}

function customerRules(installed: Pick<InstalledEngine, "version">): string[] {
  return [...CUSTOMER_RULES, ...(isBefore7(installed) ? DENIED_SUBCOMMANDS_BEFORE_7 : DENIED_SUBCOMMANDS)];
}

function isBefore7({ version }: Pick<InstalledEngine, "version">): boolean {
  return Number.parseInt(version) < 7;
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
