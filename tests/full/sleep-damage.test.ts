// Instances whose data was damaged while they slept: clients get the reason, restarts pause, and repaired data is
// enough.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { openSession, type Resource } from "../crash/ledger-sessions.ts";
import { putToSleep, read, sleepyKinds, untilAwake, type SleepyKind } from "../crash/sleepers.ts";

/** The file of each kind that is damaged in its data directory, and words of its owner's error. */
const DAMAGES: Record<string, { file: RegExp; words: RegExp }> = {
  Postgres: {
    file: /^PG_VERSION$/,
    words: /Postgres ended before it was ready: "data" is not a valid data directory/,
  },
  MySQL: { file: /^ibdata1$/, words: /MariaDB ended before it was ready: / },
  "a cache that keeps every key": {
    file: /^appendonlydir\/.*\.manifest$/,
    words: /saved data cannot be read|ended before it was ready/,
  },
  "a cache that may drop keys": { file: /^dump\.rdb$/, words: /saved data cannot be read/ },
};

/** How long a client is held by an engine that cannot be started. */
const HOLD_MS = 5_000;
/** Starts at first, whose pauses double from 0.1 s on; after them a waiting client has it started once a second. */
const FIRST_TRIES = 10;

let pilvi: TestPilvi;
/** An undamaged instance of each kind. */
let others: Resource[];

beforeAll(async () => {
  pilvi = await startPilvi();
  others = await Promise.all(sleepyKinds().map(make));
});

afterAll(async () => {
  await pilvi.close();
});

beforeEach(async () => {
  await Promise.all(others.map((resource) => putToSleep(pilvi, resource)));
});

async function make(kind: SleepyKind): Promise<Resource> {
  const resource = await kind.make(pilvi);
  const session = await openSession(resource);
  await session.prepare();
  await session.add(42);
  await session.end();
  return resource;
}

async function expectKept(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  expect(await session.numbers().finally(() => session.end())).toEqual([42]);
}

/** Makes a data file unreadable for the engine. @returns the function that repairs it. */
function damage({ id }: Resource, pattern: RegExp): () => void {
  const folder = join(pilvi.dataDir, "instances", id, "data");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const path = join(folder, names.find((name) => pattern.test(name)) ?? "missing");
  const whole = readFileSync(path);
  writeFileSync(path, "this is not what was here\n");
  return () => writeFileSync(path, whole);
}

/** How many starts of the engine by the host have failed. */
function failuresOf({ id }: Resource): number {
  const lines = readFileSync(join(pilvi.dataDir, "log", "host.log"), "utf8").split("\n");
  return lines.filter((line) => line.includes(id) && line.includes("could not be started")).length;
}

/** Tries to use it, once. @returns the client's error, and its delay. */
async function refusalOf(resource: Resource): Promise<{ message: string; ms: number }> {
  const startedAt = performance.now();
  const message = await expectKept(resource).then(
    () => "let in",
    (error: Error) => error.message,
  );
  return { message, ms: performance.now() - startedAt };
}

describe.each(sleepyKinds())("$name", (kind) => {
  test("that was damaged delays no other instance, names the reason, and works again when it is repaired", async () => {
    const { file, words } = DAMAGES[kind.name] ?? { file: /^$/, words: /^$/ };
    const resource = await make(kind);
    await putToSleep(pilvi, resource);
    const repair = damage(resource, file);
    const refused = refusalOf(resource);
    await until("it was tried", () => failuresOf(resource) > 0);
    await Promise.all(others.map(expectKept));
    const { message, ms } = await refused;
    expect(message).toMatch(words);
    expect(ms).toBeGreaterThan(HOLD_MS - 500);
    expect(failuresOf(resource)).toBeLessThan(FIRST_TRIES + ms / 1_000);

    const shown = await read(pilvi, resource);
    expect(shown.meta.last_error).toMatch(words);
    expect(shown.meta.last_error).not.toContain(pilvi.dataDir);
    expect(shown.attributes.status).not.toBe("available");
    expect(shown.attributes.connection).toEqual(resource.attributes.connection);

    repair();
    await expectKept(resource);
    await untilAwake(pilvi, resource);
    expect((await read(pilvi, resource)).meta.last_error).toBeNull();
    await putToSleep(pilvi, resource);
    await expectKept(resource);
  });
});
