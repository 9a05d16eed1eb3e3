// A new password with real engines: the new password works, the former is refused, and sleeping instances stay asleep.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openSession, type Resource } from "../../crash/ledger-sessions.ts";
import { expectAsleep, pathOf, putToSleep, read, sleepyKinds } from "../../crash/sleepers.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(() => pilvi.close());

async function rotate(resource: Resource): Promise<Resource> {
  const path = `${pathOf(resource)}/rotate-credentials`;
  const { status, body } = await pilvi.api<{ data: Resource }>("POST", path);
  expect(status).toBe(200);
  await until("it is available", async () => (await read(pilvi, resource)).attributes.status === "available");
  return body.data;
}

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
