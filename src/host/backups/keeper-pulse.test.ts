// The client of the keeper beside a server that pauses: a pause is no silence while the server answers questions.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { keeperPath } from "../../contracts/versions.ts";
import { KeeperClient, KeeperUnreachable } from "./keeper-client.ts";
import { KeeperPulse } from "./keeper-pulse.ts";

const INTERVAL_MS = 20;
/** The client of a keeper that lives must not take a busy machine for silence. */
const PATIENT = { intervalMs: INTERVAL_MS, silenceMs: 60_000 };
const IMPATIENT = { intervalMs: INTERVAL_MS, silenceMs: 3_000 };
const SEGMENT = "000000010000000000000001";
const never = new AbortController().signal;

let folder: string;
let socket: string;
let server: Bun.Server<undefined>;
let isAlive: boolean;
let questions: number;
/** The rest of the stream, after its first part. */
let rest: PromiseWithResolvers<void>;

beforeEach(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-pulse-"));
  socket = join(folder, "keeper.sock");
  isAlive = true;
  questions = 0;
  rest = Promise.withResolvers();
  const forever = new Promise<Response>(() => undefined);
  server = Bun.serve({
    unix: socket,
    routes: {
      [keeperPath("/alive")]: () => {
        questions += 1;
        return isAlive ? new Response(null, { status: 204 }) : forever;
      },
      [keeperPath("/archives/:id/log/:segment")]: () => new Response(paused()),
    },
    fetch: () => forever,
  });
});

afterEach(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

async function* paused(): AsyncGenerator<string> {
  yield "one ";
  await rest.promise;
  yield "two";
}

async function textOf(stream: AsyncIterable<Uint8Array>, onChunk: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk);
    onChunk();
  }
  return text;
}

test("a stream goes on after a pause of a keeper that lives", async () => {
  const stream = await new KeeperClient(socket, PATIENT).readLog("db-1", SEGMENT, never);
  const text = textOf(stream, () => undefined);
  await until("the keeper was asked", () => questions > 5);
  rest.resolve();
  expect(await text).toBe("one two");
});

test("a stream of a keeper that has fallen silent ends with an error", async () => {
  // A busy machine may count as silence before the stream has begun.
  const text = new KeeperClient(socket, IMPATIENT)
    .readLog("db-1", SEGMENT, never)
    .then((stream) => textOf(stream, () => void (isAlive = false)));
  await expect(text).rejects.toBeInstanceOf(KeeperUnreachable);
});

test("a request that is given up ends at once", async () => {
  const giveUp = new AbortController();
  const asked = new KeeperClient(socket, PATIENT).archive("db-1", giveUp.signal);
  giveUp.abort(new Error("it was given up"));
  await expect(asked).rejects.toThrow("it was given up");
});

test("a request that has ended is not aborted for a question that was asked before its end", async () => {
  const asked: AbortSignal[] = [];
  const pulse = new KeeperPulse({
    intervalMs: 1,
    silenceMs: 50,
    ask: async (signal) => {
      asked.push(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const first = pulse.watch();
  await until("the keeper is asked", () => asked.length === 1);
  first.end();
  // Another request has the keeper asked again, after the first question.
  const second = pulse.watch();
  await until("the keeper is asked again", () => asked.length === 2);
  second.end();
  expect([asked[0]?.aborted, first.silence.aborted]).toEqual([true, false]);
});
