// A host that can open no more files: whatever needs one fails by itself and says so, and all else goes on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

/** Bounds how many files a running process may have open; the highest value that it may set itself stays. */
function limitOpenFiles(pid: number, limit: number): void {
  const { exitCode, stderr } = Bun.spawnSync(["prlimit", "--pid", String(pid), `--nofile=${limit}:`]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function hostLog(): string[] {
  return readFileSync(join(pilvi.dataDir, "log", "host.log"), "utf8")
    .trim()
    .split("\n");
}

const isJson = (line: string) => line.startsWith("{") && line.endsWith("}");

test("a host without a free descriptor goes on, and starts a killed engine as soon as it has one", async () => {
  const { id, attributes } = await pilvi.createCache();
  const host = pilvi.runningPid("host");
  const limit = openFiles(host) + 1_000;
  limitOpenFiles(host, 1);
  for (const pid of pilvi.enginePids(id)) process.kill(pid, "SIGKILL");
  for (const said of ["a check of the instances failed", "engine ended unexpectedly"])
    await until(`the log says "${said}"`, () => hostLog().some((line) => line.includes(said)));
  expect(pilvi.enginePids(id)).toEqual([]);
  limitOpenFiles(host, limit);
  await pilvi.untilStatus(id, "available");
  const { hostname, port, username = "", password = "" } = attributes.connection;
  const client = new Redis({ host: hostname, port, username, password });
  // It tries again while the engine starts.
  client.on("error", () => {});
  expect(await client.ping()).toBe("PONG");
  client.disconnect();
  expect(pilvi.pidOf("host")).toBe(host);
  // An uncaught error would stand there as it is.
  expect(hostLog().filter((line) => !isJson(line))).toEqual([]);
}, 120_000);
