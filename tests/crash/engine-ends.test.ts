// An engine that ends while its host is dead: `pilvi up` notes its end, so events and usage have it exactly.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import type { UsageResource } from "../../src/resources/shared/usage-schema.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

async function eventsOf(id: string): Promise<EventResource[]> {
  const path = `/events?filter[resource]=${id}&per_page=100`;
  return (await pilvi.api<{ data: EventResource[] }>("GET", path)).body.data;
}

/** Whether a process still runs; a killed process stays in the list until its parent has seen its end. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("an engine that is killed after its host ended at that time, as far as events and usage know", async () => {
  const { id } = await pilvi.createCache();
  const [engine = 0] = pilvi.enginePids(id);
  const host = pilvi.runningPid("host");
  process.kill(host, "SIGKILL");
  // Without a pause, so that the next host has not found the engine yet.
  while (isAlive(host)) continue;
  const killedAt = Date.now();
  process.kill(engine, "SIGKILL");
  let events: EventResource[] = [];
  await until("its end and its next start are known", async () => {
    events = await eventsOf(id);
    return events.filter(({ attributes }) => attributes.type === "started").length === 2;
  });
  const stopped = events.filter(({ attributes }) => attributes.type === "stopped");
  expect(stopped.map(({ attributes }) => attributes.details)).toEqual([
    { reason: "It ended while its host was away." },
  ]);
  const next = events.find(({ attributes }) => attributes.type === "started");
  const endedAt = Date.parse(stopped[0]?.attributes.occurred_at ?? "");
  expect(endedAt).toBeGreaterThanOrEqual(killedAt);
  expect(endedAt).toBeLessThanOrEqual(Date.parse(next?.attributes.occurred_at ?? ""));
  const usage = await pilvi.api<{ data: UsageResource[] }>("GET", `/usage?filter[resource]=${id}`);
  expect(usage.body.data[0]?.attributes.totals.uncertain_ms).toBe(0);
}, 120_000);
