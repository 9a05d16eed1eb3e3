// Which changed variables wait for the next start of a process.
import { describe, expect, test } from "bun:test";
import { withPasswordsOf } from "./credentials.ts";
import { digestOf, type UnplacedSpec } from "./spec.ts";

const credentials = ["DATABASE_URL", "DB_PASSWORD", "REDIS_URL", "REDIS_PASSWORD"];
const DEPLOYMENT = { id: "depl" };

function specWith(variables: Record<string, string>, names: string[] = credentials): UnplacedSpec {
  return {
    kind: "application",
    engines: ["application"],
    users: [],
    environment: "env",
    release: "depl",
    runtime: { name: "bun" },
    command: "bun server.ts",
    variables: {
      DB_HOST: "127.0.0.1",
      DATABASE_URL: "postgresql://app:former@127.0.0.1:20000/main",
      DB_PASSWORD: "former",
      REDIS_URL: "redis://app:key@127.0.0.1:20001",
      REDIS_PASSWORD: "key",
      ...variables,
    },
    ...(names.length > 0 && { credentials: names }),
    memoryBytes: 1,
    cpus: 1,
    maxProcesses: 8,
    healthPath: "/",
    startTimeoutSeconds: 1,
    shutdownTimeoutSeconds: 1,
    sleepAfterSeconds: null,
  };
}

const rotated = { DATABASE_URL: "postgresql://app:second@127.0.0.1:20000/main", DB_PASSWORD: "second" };

function isRotation(former: UnplacedSpec, present: UnplacedSpec): boolean {
  const spec = withPasswordsOf(former, present);
  return spec !== null && digestOf(DEPLOYMENT, spec) === digestOf(DEPLOYMENT, present);
}

describe("a present spec", () => {
  test("with another password is a rotation", () => {
    expect(isRotation(specWith({}), specWith(rotated))).toBe(true);
    const both = { ...rotated, REDIS_URL: "redis://app:$&@127.0.0.1:20001", REDIS_PASSWORD: "$&" };
    expect(isRotation(specWith({}), specWith(both))).toBe(true);
  });

  test("with another address is no rotation, whatever the password", () => {
    const moved = {
      DATABASE_URL: "postgresql://app:former@cloud.example:20000/main",
      DB_HOST: "cloud.example",
    };
    expect(isRotation(specWith({}), specWith(moved))).toBe(false);
    const tls = { DATABASE_URL: `${rotated.DATABASE_URL}?sslmode=require`, DB_PASSWORD: "second" };
    expect(isRotation(specWith({}), specWith(tls))).toBe(false);
  });

  test("with another variable is no rotation", () => {
    expect(isRotation(specWith({}), specWith({ ...rotated, GREETING: "hello" }))).toBe(false);
  });

  test("is none for a process without names of credentials", () => {
    expect(isRotation(specWith({}, []), specWith(rotated))).toBe(false);
  });
});

test("the names of the credentials need no other process", () => {
  expect(digestOf(DEPLOYMENT, specWith({}, []))).toBe(digestOf(DEPLOYMENT, specWith({})));
});
