// The grace of a rotation over kills of every process, and its end while nothing of Pilvi runs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openSession, type Resource } from "../crash/ledger-sessions.ts";
import { pathOf, read, sleepyKinds } from "../crash/sleepers.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

const TIMEOUT_MS = 180_000;
/** Shorter than Pilvi needs to start again. */
const SHORT_GRACE_SECONDS = 5;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(() => pilvi.close());

async function rotate(resource: Resource, seconds: number): Promise<Resource> {
  const path = `${pathOf(resource)}/rotate-credentials`;
  const { body } = await pilvi.api<{ data: Resource }>("POST", path, { grace_seconds: seconds });
  await until("it is available", async () => (await read(pilvi, resource)).attributes.status === "available");
  return body.data;
}

const takes = async (resource: Resource) => {
  const session = await openSession(resource).catch(() => null);
  await session?.end();
  return session !== null;
};

test(
  "a grace outlives a kill of every process, and its end is in force after a later kill",
  async () => {
    const makers = [...sleepyKinds().map(({ make }) => make), (on: TestPilvi) => on.createCache()];
    const firsts = await Promise.all(makers.map((make) => make(pilvi)));
    const seconds = await Promise.all(firsts.map((first) => rotate(first, 3_600)));
    pilvi.kill("control", "host", "gateway");
    await pilvi.untilReady();
    for (const resource of [...firsts, ...seconds]) expect(await takes(resource)).toBe(true);
    const thirds = await Promise.all(seconds.map((second) => rotate(second, SHORT_GRACE_SECONDS)));
    await pilvi.crash();
    await pilvi.start();
    for (const former of seconds) await until("the grace is over", async () => !(await takes(former)));
    for (const resource of thirds) {
      expect(await takes(resource)).toBe(true);
      expect((await read(pilvi, resource)).meta.former_credentials).toBeNull();
    }
  },
  TIMEOUT_MS,
);
