// Engines that a new host finds: it waits for an engine that still starts, whatever its log says of earlier starts, and
// looks for the processes of all engines at once.
import { afterAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Host } from "../host.ts";
import * as locks from "../os/locks.ts";
import { sleepySpec, TestHosts } from "../test-support.ts";
import { latestStart, readTail } from "./log-follower.ts";

const READY = "ready to accept connections";

const hosts = new TestHosts();
const spec = sleepySpec("postgres", { sleepAfterSeconds: null });
const log = join(hosts.dataDir, "instances", spec.id, "engine.log");

afterAll(() => hosts.close());

const textOfLatestStart = () => readTail(log, latestStart(log));

/** Kills the engine, and holds its next start before it is ready. */
async function holdStart(host: Host): Promise<void> {
  const former = hosts.pidsOf(spec.id);
  for (const pid of former) process.kill(pid, "SIGKILL");
  const started = () => hosts.pidsOf(spec.id).filter((pid) => !former.includes(pid));
  await until("it starts again", () => started().length > 0);
  for (const pid of started()) process.kill(pid, "SIGSTOP");
  if (!textOfLatestStart().includes(READY)) return;
  for (const pid of started()) process.kill(pid, "SIGCONT");
  await until("it runs again", () => host.observe(spec.id).state === "running");
  await holdStart(host);
}

test("a new host waits for an engine that still starts", async () => {
  const former = await hosts.start();
  await former.ensure(spec);
  await holdStart(former);
  const held = hosts.pidsOf(spec.id);
  const host = await hosts.start();
  const seen = host.ensure(spec);
  await until("the new host has found it", () => host.observe(spec.id).state === "starting");
  for (const pid of held) process.kill(pid, "SIGCONT");
  expect(await seen).toMatchObject({ state: "running", lastError: null, crashes: 0 });
  expect(hosts.pidsOf(spec.id)).toContain(held[0] ?? 0);
});

test("a new host looks through all processes once, however many engines it finds", async () => {
  const former = await hosts.start();
  const specs = [sleepySpec("cache"), sleepySpec("cache")];
  for (const each of specs) await former.ensure(each);
  const searches = spyOn(locks, "lockHolders");
  try {
    const host = await hosts.start();
    for (const each of specs) expect(await host.ensure(each)).toMatchObject({ state: "running", crashes: 0 });
    expect(searches).toHaveBeenCalledTimes(1);
  } finally {
    searches.mockRestore();
  }
});
