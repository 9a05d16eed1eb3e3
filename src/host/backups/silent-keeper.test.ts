// A keeper that is stopped and keeps its connections: every request ends, and no deletion waits for it.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { newId } from "../../lib/ids.ts";
import { keeperSocket } from "../os/layout.ts";
import { sleepySpec } from "../test-support.ts";
import { KeeperClient, KeeperUnreachable } from "./keeper-client.ts";
import { BackupStage } from "./test-support.ts";

/** Far more than the buffers of a connection hold. */
const STREAM_BYTES = 64 * 1024 ** 2;

const stage = new BackupStage();
const spec = sleepySpec("cache");
const { id } = spec;
let client: KeeperClient;
let backup: string;

beforeAll(async () => {
  await stage.start();
  const timing = { intervalMs: 100, silenceMs: 1_500 };
  client = new KeeperClient(keeperSocket(stage.hosts.dataDir), timing);
  await stage.driver.ensure(spec);
  ({ id: backup } = await stage.backUp(id));
});
afterEach(() => stage.signalKeeper("SIGCONT"));
afterAll(() => stage.close());

const never = new AbortController().signal;

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}

async function* stream(onChunk: () => void): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < STREAM_BYTES; sent += 65_536) {
    yield new Uint8Array(65_536);
    onChunk();
  }
}

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

function expectSilence(fault: unknown): void {
  expect(fault).toBeInstanceOf(KeeperUnreachable);
  expect((fault as Error).message).toBe("The keeper of backups does not answer.");
}

function copyOfBackup(): InstanceSpec {
  const exposure = { ...spec.exposure, port: freePort() };
  return { ...spec, id: newId("cache"), exposure, origin: { archive: id, backup } } as InstanceSpec;
}

test("a stream to it, its watch and a question end with a sentence", async () => {
  const watched = faultOf(drain(client.watch(never)));
  const stored = faultOf(
    client.store(
      id,
      "other",
      stream(() => stage.signalKeeper("SIGSTOP")),
      never,
    ),
  );
  expectSilence(await stored);
  expectSilence(await faultOf(client.archives()));
  expectSilence(await watched);
  stage.signalKeeper("SIGCONT");
  await until("the keeper answers", async () => (await faultOf(client.archives())) === null);
});

test("a restore from it is cancelled at once", async () => {
  stage.signalKeeper("SIGSTOP");
  const copy = copyOfBackup();
  const ensured = faultOf(stage.driver.ensure(copy));
  await until(
    "the restore has begun",
    async () => (await stage.driver.observe(copy.id)).state === "starting",
  );
  await stage.driver.remove(copy.id);
  expect((await stage.driver.observe(copy.id)).state).toBe("absent");
  await ensured;
}, 30_000);

test("a backup that waits for it is given up with its instance, at once", async () => {
  const source = sleepySpec("cache");
  await stage.driver.ensure(source);
  stage.signalKeeper("SIGSTOP");
  const made = stage.driver
    .backUp(source.id, "snapshot-given", stage.signal)
    .catch((error: Error) => error.message);
  await stage.driver.remove(source.id);
  expect(await made).toMatch(/given up|does not exist|was removed/);
}, 30_000);

test("a restore goes on when it answers again", async () => {
  stage.signalKeeper("SIGSTOP");
  const copy = copyOfBackup();
  const ensured = stage.driver.ensure(copy);
  await until(
    "the restore has begun",
    async () => (await stage.driver.observe(copy.id)).state === "starting",
  );
  stage.signalKeeper("SIGCONT");
  await ensured;
  await until("it runs", async () => (await stage.driver.observe(copy.id)).state === "running");
  await stage.driver.remove(copy.id);
});
