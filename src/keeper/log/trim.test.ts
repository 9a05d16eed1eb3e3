// Plans for the same instant, of which the second need not read the whole segments again.
import { afterEach, expect, test } from "bun:test";
import { LogArchive } from "./log-archive.ts";
import { catalogOf, freshLog, freshServer, PREFIX, removeServers, shipAll, write } from "./test-shipping.ts";
import { MemoryStore, SEGMENT_BYTES } from "./test-support.ts";
import { trimmedPlan } from "./trim.ts";
import { facts } from "../test-support.ts";

afterEach(removeServers);

test("a second plan reads no whole segment again, until a segment is stored anew", async () => {
  const [server, store] = [await freshServer(), new MemoryStore()];
  await write(server, 20_000);
  const at = new Date().toISOString();
  for (let count = 0; count < 8; count += 1) await write(server, 10_000);
  await shipAll(freshLog(store), server);
  const archive = new LogArchive(store, PREFIX);
  await archive.load();
  const names = [...(await catalogOf(store)).objects.segments].sort();
  const backup = { ...facts, id: "one", archive: "a", partCount: 0, plainBytes: 0, storedBytes: 0 };
  const plan = {
    backup,
    recovery: { kind: "time" as const, at, mustReachLsn: "0/0" },
    segments: names.map((name) => ({ name, isPartial: false })),
    totalBytes: 0,
  };
  const planned = async () => {
    const reads: string[] = [];
    const read = async (name: string) => {
      reads.push(name);
      return await archive.read(name, SEGMENT_BYTES);
    };
    return { plan: await trimmedPlan(plan, SEGMENT_BYTES, read, archive.ends), reads };
  };
  const first = await planned();
  expect(first.plan.segments.length).toBeLessThan(names.length);
  expect(first.reads.length).toBeGreaterThan(1);
  expect(await planned()).toEqual({ ...first, reads: [] });
  const [name = ""] = first.reads;
  await archive.putSegment(name, await archive.read(name, SEGMENT_BYTES));
  expect(await planned()).toEqual(first);
});
