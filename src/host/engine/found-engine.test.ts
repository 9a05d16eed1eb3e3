// An engine that still starts when a new host finds it: the new host waits for it, whatever its log says of earlier
// starts.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Host } from "../host.ts";
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
