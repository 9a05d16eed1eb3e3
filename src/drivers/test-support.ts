// Specs for the tests of the contract that every driver keeps.
import { EDGE_ID } from "../contracts/edge-id.ts";
import { newId } from "../lib/ids.ts";
import { sha256Hex } from "../lib/secrets.ts";
import { nativeVerifier, scramVerifier } from "../lib/verifiers.ts";
import type { CacheSpec, InstanceSpec } from "../contracts/instance-spec.ts";

/** A spec of a small cache. */
export function cacheSpec(port: number, password: string, overrides: Partial<CacheSpec> = {}): CacheSpec {
  const verifier = sha256Hex(password);
  return {
    kind: "cache",
    id: newId("cache"),
    engines: ["valkey", "redis"],
    users: [{ name: "default", verifier }],
    exposure: { port, scope: "loopback", through: "engine" },
    sleepAfterSeconds: null,
    memoryBytes: 64 * 1024 ** 2,
    evictionPolicy: "noeviction",
    ...overrides,
  };
}

/** A small spec of each kind, with each engine that may run it. */
export function specsOf(port: number): Record<string, InstanceSpec> {
  const exposure = { port, scope: "loopback", through: "engine" } as const;
  const proxied = { ...exposure, through: "gateway" } as const;
  const memoryBytes = 256 * 1024 ** 2;
  const databases = [{ name: "main", owner: "app", desiredState: "present" } as const];
  const cluster = {
    version: null,
    memoryBytes,
    cpus: null,
    maxConnections: 20,
    databases,
    exposure: proxied,
  };
  const rest = { sleepAfterSeconds: 60 };
  const [scram, native] = [scramVerifier("moi", "salt"), nativeVerifier("moi")];
  return {
    valkey: cacheSpec(port, "moi", { engines: ["valkey"] }),
    redis: cacheSpec(port, "moi", { engines: ["redis"] }),
    postgres: {
      kind: "postgres",
      id: newId("db"),
      engines: ["postgres"],
      users: usersWith(scram),
      ...cluster,
      ...rest,
    },
    mariadb: {
      kind: "mysql",
      id: newId("db"),
      engines: ["mariadb"],
      users: usersWith(native),
      ...cluster,
      ...rest,
    },
    realtime: {
      kind: "realtime",
      id: newId("ws"),
      engines: ["realtime"],
      users: [],
      exposure,
      maxConnections: 100,
      applications: [],
    },
    haproxy: {
      kind: "edge",
      id: EDGE_ID,
      engines: ["haproxy"],
      users: [],
      exposure,
      httpsPort: null,
      maxConnections: 200,
      maxConnectionsPerAddress: 100,
    },
  };
}

function usersWith(verifier: string) {
  return [{ name: "app", verifier }];
}
