// The sampler beside an instance whose figures cannot be read, and beside instances that sleep.
import { expect, mock, test } from "bun:test";
import { readingBatchSchema, type ReadingBatch } from "../../contracts/readings.ts";
import type { MeteredInstance } from "./instance-meter.ts";
import { Sampler } from "./sampler.ts";

const instance = (id: string, usage: MeteredInstance["usage"]): MeteredInstance => ({
  id,
  process: { pid: 1, wasFound: false },
  cpus: 1,
  wakes: 0,
  usage,
  ask: () => Promise.resolve(null),
});

const asleep = (id: string): MeteredInstance => ({ ...instance(id, () => null), process: null });

test("an instance whose usage cannot be read lacks the figure, and all others have theirs", async () => {
  const full = instance("full", () => {
    throw new Error("EMFILE: too many open files");
  });
  const other = instance("other", () => ({ cpuMs: 50, memoryBytes: 4_096 }));
  const instances = [full, other];
  const warn = mock();
  const batches: ReadingBatch[] = [];
  const sampler = new Sampler({
    log: { warn },
    instances: () => instances,
    find: (id) => instances.find((each) => each.id === id),
    storageBytesOf: () => undefined,
    clientsOf: () => undefined,
    replicaLagOf: (id) => ({ other: 7 })[id],
    requests: () => [],
    counters: { former: () => undefined, write: () => {} },
    onBatch: (batch) => batches.push(batch),
  });
  sampler.changed("full", "running");
  sampler.changed("other", "running");
  await sampler.endMinute();
  const readings = Object.fromEntries(batches[0]?.readings.map((reading) => [reading.id, reading]) ?? []);
  expect(readings.other).toMatchObject({ cpuMs: 50, memoryBytes: 4_096, replicaLagSeconds: 7 });
  expect(readings.full).toMatchObject({ cpuMs: 0, memoryBytes: 0 });
  expect(warn).toHaveBeenCalledTimes(1);
});

test("a sleeping instance has a reading while clients stay at the gateway", async () => {
  const instances = [asleep("left"), asleep("with clients")];
  const batches: ReadingBatch[] = [];
  const clients = new Map([["with clients", 2]]);
  const sampler = new Sampler({
    log: { warn: mock() },
    instances: () => instances,
    find: (id) => instances.find((each) => each.id === id),
    storageBytesOf: () => undefined,
    clientsOf: (id) => clients.get(id),
    replicaLagOf: () => 7,
    requests: () => [],
    counters: { former: () => undefined, write: () => {} },
    onBatch: (batch) => batches.push(batch),
  });
  await sampler.endMinute();
  clients.clear();
  await sampler.endMinute();
  const [first, second] = batches.map((batch) => readingBatchSchema.parse(batch).readings);
  expect(first).toMatchObject([{ id: "with clients", awakeMs: 0, connections: 0, gatewayConnections: 2 }]);
  // How far a replica without an engine is behind is not known.
  expect(first?.[0]).not.toHaveProperty("replicaLagSeconds");
  expect(second).toEqual([]);
});
