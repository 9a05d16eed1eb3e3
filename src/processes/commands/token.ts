// `pilvi token`: makes, lists and revokes access tokens, straight in the store of the Pilvi that runs here.
import { createToken, listTokens, revokeToken, type TokenRow } from "../../api/auth/tokens.ts";
import type { Config } from "../../config.ts";
import { table } from "../../cli/table.ts";
import { Refusal } from "../../lib/errors.ts";
import { kinds } from "../../resources/index.ts";
import type { Database } from "../../store/database.ts";
import { withStore } from "../bootstrap/local-store.ts";

const HOURS = { h: 1, d: 24, y: 24 * 365 };

/** The properties of a new token. */
export interface TokenOptions {
  name: string;
  abilities: string[];
  /** Such as `12h`, `30d`, `1y` or an ISO date; a token without it never expires. */
  expires?: string | undefined;
  organization: string;
  maxResources?: number;
  /** Bytes. */
  maxMemory?: number;
  /** Bytes. */
  maxStorage?: number;
  maxConnections?: number;
  json: boolean;
}

/** Prints the new token, which is never shown again. @returns the exit code. */
export function tokenCreate(config: Config, options: TokenOptions): Promise<number> {
  return printed(config, async (db) => {
    const { name, abilities, expires, organization, json } = options;
    const kindNames = kinds.map((kind) => kind.name);
    const expiresAt = expires === undefined ? undefined : expiryOf(expires);
    const { id, token } = await createToken(db, kindNames, {
      organizationName: organization,
      name,
      abilities,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      limits: {
        resources: options.maxResources,
        memoryBytes: options.maxMemory,
        storageBytes: options.maxStorage,
        connections: options.maxConnections,
      },
    });
    const limits = {
      max_resources: options.maxResources ?? null,
      max_memory_bytes: options.maxMemory ?? null,
      max_storage_bytes: options.maxStorage ?? null,
      max_connections: options.maxConnections ?? null,
    };
    const made = { id, name, organization, abilities, expires_at: expiresAt ?? null, ...limits, token };
    print(json ? JSON.stringify(made) : token);
  });
}

/** Prints all tokens without their secrets. @returns the exit code. */
export function tokenList(config: Config, { json }: { json: boolean }): Promise<number> {
  return printed(config, async (db) => {
    const tokens = await listTokens(db);
    if (json) return print(JSON.stringify(tokens.map(asJson)));
    if (tokens.length === 0) return print("There is no token. Make one with: pilvi token create --name NAME");
    const rows = tokens.map((token) => {
      const { id, name, organizationName, abilities } = token;
      return [name, organizationName, abilities.join(","), stateOf(token), id];
    });
    process.stdout.write(table([["NAME", "ORGANIZATION", "ABILITIES", "STATE", "ID"], ...rows]));
  });
}

/** @returns the exit code. */
export function tokenRevoke(config: Config, idOrName: string): Promise<number> {
  return printed(config, async (db) => {
    await revokeToken(db, idOrName);
    print(`The token ${idOrName} is revoked.`);
  });
}

async function printed(config: Config, task: (db: Database) => Promise<void>): Promise<number> {
  await withStore(config, task);
  return 0;
}

function expiryOf(text: string): Date {
  const duration = /^(\d+)([hdy])$/.exec(text);
  const at =
    duration === null
      ? new Date(text)
      : new Date(Date.now() + Number(duration[1]) * HOURS[duration[2] as "h" | "d" | "y"] * 3_600_000);
  if (at.getTime() > Date.now() && at.getFullYear() < 10_000) return at;
  throw new Refusal(`The expiry ${text} is not a time to come.`);
}

function stateOf({ revokedAt, expiresAt }: TokenRow): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return "does not expire";
  return `${expiresAt < new Date() ? "expired" : "expires"} ${expiresAt.toISOString()}`;
}

function asJson(token: TokenRow) {
  return {
    id: token.id,
    name: token.name,
    organization: token.organizationName,
    abilities: token.abilities,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
    last_used_at: token.lastUsedAt,
    max_resources: token.maxResources,
    max_memory_bytes: token.maxMemoryBytes,
    max_storage_bytes: token.maxStorageBytes,
    max_connections: token.maxConnections,
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
