// The log of a Postgres that keeps it: the keeper's user reads it as long as the spec says so, and nothing else.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../host.ts";
import { canSwitchUsers, KEEPER_ACCOUNT } from "../os/accounts.ts";
import { sleepySpec, TestHosts, type TestGateway } from "../test-support.ts";

const hosts = new TestHosts();
let host: Host;
let gateway: TestGateway;

beforeAll(async () => {
  // The keeper passes through the folder of all data.
  chmodSync(hosts.dataDir, 0o711);
  host = await hosts.start();
  gateway = await hosts.gateway();
});

afterAll(async () => await hosts.close());

/** Which files of an instance's data the keeper's user can read. */
function readable(id: string): { log: boolean; other: boolean } {
  const data = join(hosts.dataDir, "instances", id, "data");
  const segment = readdirSync(join(data, "pg_wal")).find((name) => /^[0-9A-F]{24}$/.test(name)) ?? "";
  const canRead = (name: string) =>
    Bun.spawnSync(["/usr/bin/head", "-c", "1", join(data, name)], {
      stdio: ["ignore", "ignore", "ignore"],
      ...KEEPER_ACCOUNT,
    }).exitCode === 0;
  return { log: canRead(join("pg_wal", segment)), other: canRead("PG_VERSION") };
}

// Without root all processes have the same user.
test.if(canSwitchUsers())("the keeper reads the kept log, over changes, sleeps and hosts", async () => {
  const spec = sleepySpec("postgres");
  await host.ensure(spec);
  expect(readable(spec.id)).toEqual({ log: false, other: false });

  expect(await host.ensure({ ...spec, keepsLog: true } as typeof spec)).toMatchObject({ state: "running" });
  expect(readable(spec.id)).toEqual({ log: true, other: false });

  await host.suspend(spec.id);
  expect(readable(spec.id)).toEqual({ log: true, other: false });
  host = await hosts.start();
  gateway = await hosts.gateway();
  await gateway.wake(spec.id);
  expect(readable(spec.id)).toEqual({ log: true, other: false });

  await host.ensure(spec);
  expect(readable(spec.id)).toEqual({ log: false, other: false });
});
