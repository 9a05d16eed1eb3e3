// Sleeping instances stay asleep and running instances run again after any end: of single processes, of Pilvi as a
// whole, of the power.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { connectPg, createCluster, firstOf, POSTGRES, processesOf } from "../support/pilvi/databases.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";
import { openSession, type Resource, type Session } from "../crash/ledger-sessions.ts";
import { cutPower } from "../crash/power-cut.ts";
import { expectAsleep, putToSleep, read, sleepyKinds, untilAwake } from "../crash/sleepers.ts";
import { killPilvi } from "../crash/databases-disasters.ts";

const KINDS = sleepyKinds();

let pilvi: TestPilvi;
/** An instance of each kind that sleeps, and a running instance. */
let asleep: Resource[];
let awake: Resource[];
/** Instances that never sleep: a proxied and a directly exposed cache. */
let always: Resource[];

beforeAll(async () => {
  pilvi = await startPilvi();
  const make = () => Promise.all(KINDS.map((kind) => kind.make(pilvi)));
  [asleep, awake] = await Promise.all([make(), make()]);
  always = await Promise.all([
    createCluster(pilvi, { type: POSTGRES, config: { suspend_seconds: 0 } }),
    pilvi.createCache({ eviction_policy: "noeviction" }),
  ]);
  for (const resource of [...asleep, ...awake, ...always]) await begin(resource);
  await toSleep();
  // A cache that may drop keys has them on the disk from its first sleep on.
  await Promise.all(awake.map((resource) => putToSleep(pilvi, resource)));
  await Promise.all(awake.map(expectKept));
});

afterAll(async () => {
  await pilvi.close();
});

async function toSleep(): Promise<void> {
  await Promise.all(asleep.map((resource) => putToSleep(pilvi, resource)));
}

async function begin(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  await session.prepare();
  await session.add(42);
  await session.end();
}

/** The first connection works, and the written data is there. */
async function expectKept(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  expect([resource.id, ...(await session.numbers().finally(() => session.end()))]).toEqual([resource.id, 42]);
}

/** Waits until the address has a listener, without sending anything there. */
async function untilListening({ attributes: { connection } }: Resource): Promise<void> {
  await until("somebody listens", () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(connection.port, connection.hostname);
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    return promise.finally(() => socket.destroy());
  });
}

async function expectAll(): Promise<void> {
  await Promise.all(asleep.map((resource) => expectAsleep(pilvi, resource)));
  await Promise.all([...awake, ...always].map((resource) => untilAwake(pilvi, resource)));
  await Promise.all([...awake, ...always].map(expectKept));
  // No client has woken them so far.
  await Promise.all(asleep.map((resource) => expectAsleep(pilvi, resource)));
}

/** Then the first connection to each works too, and each sleeps again when asked to. */
async function expectWakes(): Promise<void> {
  await Promise.all(asleep.map(expectKept));
  await toSleep();
}

function enginesOf(resources: Resource[]): number[][] {
  return resources.map(({ id }) => processesOf(pilvi, id).slice(0, 1));
}

describe.each([
  ["a power cut", () => cutPower(pilvi)],
  ["a stop of Pilvi", () => pilvi.stop()],
])("after %s", (_, strike) => {
  test("everything is as it was", async () => {
    await strike();
    for (const { id } of [...asleep, ...awake, ...always]) expect(processesOf(pilvi, id)).toEqual([]);
    await pilvi.start();
    await expectAll();
    await expectWakes();
  });

  test("the first client, as soon as a listener is there, is let in", async () => {
    const all = [...asleep, ...awake, ...always.slice(0, 1)];
    await strike();
    const started = pilvi.start();
    await Promise.all(
      all.map(async (resource) => {
        await untilListening(resource);
        await expectKept(resource);
      }),
    );
    await started;
    await Promise.all([...all, ...always].map((resource) => untilAwake(pilvi, resource)));
    await toSleep();
  });
});

test("a dead control plane delays neither sleep nor wake", async () => {
  const control = pilvi.runningPid("control");
  const cluster = await createCluster(pilvi, { type: POSTGRES, config: { suspend_seconds: 1 } });
  await begin(cluster);
  // A stopped process does no work, but `pilvi up` does not replace it as it would a dead process.
  process.kill(control, "SIGSTOP");
  try {
    await Promise.all(asleep.map(expectKept));
    for (let round = 0; round < 2; round += 1) {
      await until("it falls asleep", () => processesOf(pilvi, cluster.id).length === 0);
      await expectKept(cluster);
    }
  } finally {
    process.kill(control, "SIGCONT");
  }
  await until("the API knows", async () => (await read(pilvi, cluster)).meta.sleep.wakes >= 2);
  await toSleep();
});

test("sessions outlast the host, and the next host carries out a wake that is requested meanwhile", async () => {
  const sessions = await Promise.all([...awake, ...always].map(openSession));
  const engines = enginesOf([...awake, ...always]);
  const former = pilvi.runningPid("host");
  // The frozen host serves no request, and the next host starts only after the frozen host has ended.
  process.kill(former, "SIGSTOP");
  const waking = asleep.map(expectKept);
  for (const session of sessions) expect(await session.numbers()).toEqual([42]);
  expect(isAlive(former)).toBe(true);
  await killPilvi(pilvi, ["host"]);
  await Promise.all(waking);
  for (const session of sessions) {
    expect(await session.numbers()).toEqual([42]);
    await session.end();
  }
  expect(enginesOf([...awake, ...always])).toEqual(engines);
  await toSleep();
});

test("a killed gateway ends the sessions, and neither engines nor sleep", async () => {
  const sessions = await Promise.all(awake.map(openSession));
  const engines = enginesOf([...awake, ...always]);
  for (let round = 0; round < 3; round += 1) {
    const former = pilvi.runningPid("gateway");
    process.kill(former, "SIGKILL");
    await until("the address is given up", () => !isAlive(former));
    await until("somebody is let in", () => isLetIn(awake[0]));
  }
  for (const session of sessions) expect(await isBroken(session)).toBe(true);
  expect(enginesOf([...awake, ...always])).toEqual(engines);
  await expectAll();
  await expectWakes();
});

test("a session that is older than a killed host does not prevent sleep", async () => {
  const [cluster] = asleep;
  if (cluster?.type !== "databases") throw new Error("not a cluster");
  const client = await connectPg(cluster);
  expect(await firstOf(client, "select n from ledger")).toBe(42);
  await killPilvi(pilvi, ["host"]);
  await putToSleep(pilvi, cluster);
  await client.end().catch(() => undefined);
  await expectWakes();
});

async function isLetIn(resource: Resource | undefined): Promise<boolean> {
  if (resource === undefined) throw new Error("nobody to log into");
  return await expectKept(resource).then(
    () => true,
    () => false,
  );
}

async function isBroken(session: Session): Promise<boolean> {
  return await session.numbers().then(
    () => false,
    () => true,
  );
}
