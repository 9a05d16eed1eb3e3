// A new password with real engines: the new password works, the former is refused at once or after its grace, and
// sleeping instances stay asleep.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openSession, type Resource } from "../../crash/ledger-sessions.ts";
import { expectAsleep, pathOf, putToSleep, read, sleepyKinds } from "../../crash/sleepers.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(() => pilvi.close());

async function act(resource: Resource, verb: string, body?: object): Promise<Resource> {
  const answer = await pilvi.api<{ data: Resource }>("POST", `${pathOf(resource)}/${verb}`, body);
  expect(answer.status).toBe(200);
  await until("it is available", async () => (await read(pilvi, resource)).attributes.status === "available");
  return answer.body.data;
}

const rotate = (resource: Resource) => act(resource, "rotate-credentials");
const rotateWith = (resource: Resource, seconds: number) =>
  act(resource, "rotate-credentials", { grace_seconds: seconds });

/** The kinds that sleep, and a cache whose clients are connected to the engine itself. */
const kinds = [
  ...sleepyKinds(),
  { name: "a cache without the gateway", make: (on: TestPilvi) => on.createCache(), isDirect: true },
];

const takes = async (resource: Resource) => {
  const session = await openSession(resource).catch(() => null);
  await session?.end();
  return session !== null;
};

test.each(sleepyKinds())("$name takes its new password alone", async ({ make }) => {
  const first = await make(pilvi);
  const second = await rotate(first);
  expect(await takes(second)).toBe(true);
  expect(await takes(first)).toBe(false);
  await putToSleep(pilvi, second);
  const third = await rotate(second);
  await expectAsleep(pilvi, third);
  expect(await takes(second)).toBe(false);
  expect(await takes(third)).toBe(true);
});

test.each(kinds)("$name takes its former password until the grace ends", async (kind) => {
  const first = await kind.make(pilvi);
  const session = await openSession(first);
  await session.prepare();
  const second = await rotateWith(first, 3_600);
  expect([await takes(first), await takes(second)]).toEqual([true, true]);
  await session.add(1);
  if (!("isDirect" in kind)) {
    await session.end();
    await putToSleep(pilvi, second);
    expect(await takes(first)).toBe(true);
  }
  const third = await rotateWith(second, 3_600);
  expect([await takes(first), await takes(second), await takes(third)]).toEqual([false, true, true]);
  const ended = await act(third, "end-grace");
  expect(ended.meta.former_credentials).toBeNull();
  expect([await takes(second), await takes(third)]).toEqual([false, true]);
  await session.end().catch(() => undefined);
});

test("a connection to a cache ends when no password that it may have proved stays valid", async () => {
  const cache = await pilvi.createCache();
  const session = await openSession(cache);
  await session.add(1);
  const [pid] = pilvi.enginePids(cache.id);
  await rotateWith(cache, 60);
  await session.add(2);
  expect(await session.numbers()).toEqual([1, 2]);
  await rotate(cache);
  await rotate(cache);
  await expect(session.add(3)).rejects.toThrow();
  expect(pilvi.enginePids(cache.id)).toEqual(pid === undefined ? [] : [pid]);
});
