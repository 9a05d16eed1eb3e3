// The settings, read once from the environment; all faults are reported together.
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isLoopback, isLoopbackName, isWildcard, urlOf } from "./lib/api-address.ts";
import type { BackupTarget, S3Access } from "./lib/backup-targets.ts";
import { edgeSettings, type EdgeSettings } from "./lib/edge-settings.ts";
import { Refusal } from "./lib/errors.ts";
import { quotaFields, quotaSettings, type Quotas } from "./lib/quota-settings.ts";
import {
  absolute,
  address,
  backupTargets,
  bearerToken,
  byteSize,
  clientUrl,
  databaseUrl,
  days,
  flag,
  hostName,
  httpUrl,
  logLevel,
  port,
  portRange,
  servers,
  smallNumber,
  wholeNumber,
} from "./lib/setting-fields.ts";

/** All settings of a Pilvi, with their defaults filled in. */
export interface Config {
  /** Where the HTTP API listens. */
  host: string;
  port: number;
  /** Everything that Pilvi writes is under this folder. */
  dataDir: string;
  /** The folder where engines are installed. */
  enginesDir: string;
  /** The 32-byte key that seals credentials, in base64. */
  keyFile: string;
  /** A full-access token of the default organization. */
  bootstrapToken: string | undefined;
  /** Another Postgres for the store; undefined when Pilvi runs the store itself. */
  databaseUrl: string | undefined;
  /** The address that public instances listen on. */
  bind: string;
  /** The name that answers carry for public instances. */
  publicHost: string;
  /** Requests a minute and token; 0 means no limit. */
  rateLimitPerMinute: number;
  portRange: { first: number; last: number };
  /** HTTPS for the API and TLS for public instances. */
  tls: { certFile: string; keyFile: string } | undefined;
  /** A folder with further certificates, chosen by the server name that a client sends. */
  tlsDir: string | undefined;
  /** Whether clients on other machines may connect without TLS. */
  isInsecure: boolean;
  /** How long events are kept. */
  eventsDays: number;
  /** How long activity is kept. */
  auditDays: number;
  environmentLogs: { days: number; bytes: number };
  logLevel: string;
  /** How many data directories of each database engine are kept ready for new clusters; 0 turns that off. */
  warmSlots: number;
  /** How applications are reached through the edge. */
  edge: EdgeSettings;
  /** Whether webhooks may go to addresses that are not public, such as those of this machine. */
  allowPrivateWebhooks: boolean;
  /** Git servers of this machine from which commits may be fetched, as `host:port`. */
  localGitServers: string[];
  /** The most that an organization may have; 0 means no limit. */
  quotas: Quotas;
  backups: {
    /** Where backups go; the first that has a piece undamaged is read. */
    targets: BackupTarget[];
    /** Undefined when no bucket is a target. */
    s3: S3Access | undefined;
    /** The most that is written to targets, but for logs of databases; 0 means no limit. */
    bytesPerSecond: number;
    /** The pause between two verified restores of an instance; 0 means none at all. */
    verificationSeconds: number;
  };
}

/** The settings of a client on the command line. */
export interface ClientConfig {
  /** The URL of Pilvi, without `/api` and without a slash at the end. */
  url: string;
  token: string | undefined;
  /** The folder where the local Pilvi keeps the token that it made for the command line. */
  dataDir: string;
  /** The folder where the local Pilvi installs engines, which bring clients along. */
  enginesDir: string;
  /** Whether the URL is an address of this machine; the stored token is for this machine only. */
  isLocal: boolean;
}

const environment = z.object({
  PILVI_HOST: address.default("127.0.0.1"),
  PILVI_PORT: port.default(7458),
  PILVI_DATA_DIR: z.string().optional(),
  PILVI_ENGINES_DIR: z.string().optional(),
  PILVI_KEY_FILE: z.string().optional(),
  PILVI_BOOTSTRAP_TOKEN: bearerToken.min(8, "must have at least 8 characters").optional(),
  PILVI_DATABASE_URL: databaseUrl.optional(),
  PILVI_BIND: address.default("127.0.0.1"),
  PILVI_PUBLIC_HOST: hostName.optional(),
  PILVI_RATE_LIMIT: wholeNumber.default(600),
  PILVI_PORT_RANGE: portRange.default({ first: 20_000, last: 29_999 }),
  PILVI_WARM_SLOTS: smallNumber.default(2),
  PILVI_APPS_DOMAIN: hostName.default("localhost"),
  PILVI_EDGE_HTTP: port.optional(),
  PILVI_EDGE_HTTPS: port.optional(),
  PILVI_TLS_CERT: z.string().optional(),
  PILVI_TLS_KEY: z.string().optional(),
  PILVI_TLS_DIR: z.string().optional(),
  PILVI_INSECURE: flag.default(false),
  PILVI_WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  PILVI_LOCAL_GIT_SERVERS: servers.default([]),
  ...quotaFields,
  PILVI_BACKUP_TARGETS: backupTargets.optional(),
  PILVI_BACKUP_BYTES_PER_SECOND: byteSize.default(0),
  PILVI_BACKUP_VERIFICATION_SECONDS: wholeNumber.default(86_400),
  PILVI_S3_ENDPOINT: httpUrl.optional(),
  PILVI_S3_REGION: z.string().optional(),
  PILVI_S3_ACCESS_KEY_ID: z.string().optional(),
  PILVI_S3_SECRET_ACCESS_KEY: z.string().optional(),
  PILVI_EVENTS_DAYS: days.default(90),
  PILVI_AUDIT_DAYS: days.default(400),
  PILVI_ENVIRONMENT_LOG_DAYS: days.default(7),
  PILVI_ENVIRONMENT_LOG_BYTES: byteSize.default(256 * 1024 ** 2),
  PILVI_LOG_LEVEL: logLevel.default("info"),
});

type Environment = z.infer<typeof environment>;

/** A client must not fail because of settings that only matter to a server. */
const clientEnvironment = environment
  .pick({
    PILVI_HOST: true,
    PILVI_PORT: true,
    PILVI_DATA_DIR: true,
    PILVI_ENGINES_DIR: true,
    PILVI_TLS_CERT: true,
  })
  .extend({ PILVI_URL: clientUrl.optional(), PILVI_TOKEN: bearerToken.optional() });

/**
 * Reads the settings. An empty variable counts as absent.
 * @throws Refusal naming every setting that is wrong.
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const given = givenIn(env);
  const issues = environment.safeParse(given).error?.issues ?? [];
  // A wrong setting counts as absent in the checks between settings.
  for (const { path } of issues) delete given[String(path[0])];
  const settings = environment.parse(given);
  const faults = [...issues.map(faultOf), ...faultsBetween(settings)];
  if (faults.length > 0) throw refusalOf(faults);
  return configOf(settings);
}

/**
 * Reads the settings of a client; without `PILVI_URL` the URL is that of the Pilvi which these settings start.
 * @throws Refusal naming every setting that is wrong.
 */
export function loadClientConfig(env: Record<string, string | undefined>): ClientConfig {
  const parsed = clientEnvironment.safeParse(givenIn(env));
  if (!parsed.success) throw refusalOf(parsed.error.issues.map(faultOf));
  const settings = parsed.data;
  const { PILVI_HOST: host, PILVI_PORT, PILVI_DATA_DIR, PILVI_TLS_CERT, PILVI_URL } = settings;
  const localUrl = urlOf(host, PILVI_PORT, PILVI_TLS_CERT !== undefined);
  const url = PILVI_URL ?? localUrl;
  const dataDir = absolute(PILVI_DATA_DIR ?? defaultDataDir());
  return {
    url,
    token: settings.PILVI_TOKEN,
    dataDir,
    enginesDir: absolute(settings.PILVI_ENGINES_DIR ?? join(dataDir, "engines")),
    isLocal: url === localUrl || isLoopbackName(new URL(url).hostname),
  };
}

/** The folder for everything when `PILVI_DATA_DIR` is not set. Other users must be able to reach the folder of root. */
export function defaultDataDir(): string {
  return process.getuid?.() === 0 ? "/var/lib/pilvi" : join(homedir(), ".pilvi");
}

/** The URL of the API for a client on this machine, without `/api` and without a slash at the end. */
export function baseUrl({ host, port: apiPort, tls }: Config): string {
  return urlOf(host, apiPort, tls !== undefined);
}

function givenIn(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
}

function faultOf({ path, message }: z.core.$ZodIssue): string {
  return `${String(path[0])} ${message}`;
}

function faultsBetween(env: Environment): string[] {
  const faults: string[] = [];
  if ((env.PILVI_TLS_CERT === undefined) !== (env.PILVI_TLS_KEY === undefined)) {
    faults.push("PILVI_TLS_CERT and PILVI_TLS_KEY must be set together");
  }
  const needsS3 = env.PILVI_BACKUP_TARGETS?.some(({ type }) => type === "s3") === true;
  if (needsS3 && s3Of(env) === undefined)
    faults.push(
      "PILVI_BACKUP_TARGETS has a bucket, which needs PILVI_S3_ACCESS_KEY_ID and PILVI_S3_SECRET_ACCESS_KEY",
    );
  const isOpen = env.PILVI_TLS_CERT === undefined && !env.PILVI_INSECURE;
  for (const name of ["PILVI_HOST", "PILVI_BIND"] as const) {
    if (isOpen && !isLoopback(env[name])) {
      faults.push(
        `${name} ${env[name]} can be reached from other machines, which needs PILVI_TLS_CERT and PILVI_TLS_KEY, or PILVI_INSECURE=1`,
      );
    }
  }
  for (const name of ["PILVI_DATA_DIR", "PILVI_ENGINES_DIR", "PILVI_KEY_FILE"] as const) {
    if (env[name]?.includes("\n")) faults.push(`${name} has a line break in it`);
    // Bun takes the text after a question mark in a program's path for a query.
    if (env[name]?.includes("?")) faults.push(`${name} has a question mark in it`);
  }
  return faults;
}

function configOf(env: Environment): Config {
  const dataDir = absolute(env.PILVI_DATA_DIR ?? defaultDataDir());
  const { PILVI_TLS_CERT: certFile, PILVI_TLS_KEY: keyFile } = env;
  return {
    host: env.PILVI_HOST,
    port: env.PILVI_PORT,
    dataDir,
    enginesDir: absolute(env.PILVI_ENGINES_DIR ?? join(dataDir, "engines")),
    keyFile: absolute(env.PILVI_KEY_FILE ?? join(dataDir, "key")),
    bootstrapToken: env.PILVI_BOOTSTRAP_TOKEN,
    databaseUrl: env.PILVI_DATABASE_URL,
    bind: env.PILVI_BIND,
    publicHost: env.PILVI_PUBLIC_HOST ?? (isWildcard(env.PILVI_BIND) ? hostname() : env.PILVI_BIND),
    rateLimitPerMinute: env.PILVI_RATE_LIMIT,
    portRange: env.PILVI_PORT_RANGE,
    tls:
      certFile === undefined || keyFile === undefined
        ? undefined
        : { certFile: absolute(certFile), keyFile: absolute(keyFile) },
    tlsDir: env.PILVI_TLS_DIR === undefined ? undefined : absolute(env.PILVI_TLS_DIR),
    isInsecure: env.PILVI_INSECURE,
    eventsDays: env.PILVI_EVENTS_DAYS,
    auditDays: env.PILVI_AUDIT_DAYS,
    environmentLogs: { days: env.PILVI_ENVIRONMENT_LOG_DAYS, bytes: env.PILVI_ENVIRONMENT_LOG_BYTES },
    logLevel: env.PILVI_LOG_LEVEL,
    warmSlots: env.PILVI_WARM_SLOTS,
    edge: edgeSettings({
      ports: [env.PILVI_EDGE_HTTP, env.PILVI_EDGE_HTTPS],
      domain: env.PILVI_APPS_DOMAIN,
      hasCertificate: certFile !== undefined,
    }),
    allowPrivateWebhooks: env.PILVI_WEBHOOK_ALLOW_PRIVATE,
    localGitServers: env.PILVI_LOCAL_GIT_SERVERS,
    quotas: quotaSettings(env, env.PILVI_PORT_RANGE),
    backups: {
      targets: env.PILVI_BACKUP_TARGETS ?? [{ type: "folder", path: join(dataDir, "backups") }],
      s3: s3Of(env),
      bytesPerSecond: env.PILVI_BACKUP_BYTES_PER_SECOND,
      verificationSeconds: env.PILVI_BACKUP_VERIFICATION_SECONDS,
    },
  };
}

function s3Of(env: Environment): S3Access | undefined {
  const { PILVI_S3_ACCESS_KEY_ID: accessKeyId, PILVI_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { endpoint: env.PILVI_S3_ENDPOINT, region: env.PILVI_S3_REGION, accessKeyId, secretAccessKey };
}

function refusalOf(faults: string[]): Refusal {
  const [only] = faults;
  if (faults.length === 1) return new Refusal(`${only}.`);
  return new Refusal(
    `${faults.length} settings are wrong:\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
  );
}
