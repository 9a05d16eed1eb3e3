// Measures how long the API takes to answer, beside a bare server with answers of the same size and a bare transaction
// on the store.
import type { SQL } from "bun";
import { cacheBody, TOKEN, type CacheDocument, type TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { constantServer, storeOf, vaultOf } from "./support/baselines.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { milliseconds, printColumns, printTarget, printTimes } from "./support/report.ts";
import { insertCacheRows } from "./support/rows.ts";
import { median, percentile } from "./support/statistics.ts";

const CREATES = 200;
const READS = 2_000;
const LISTS = 500;
const LIST_LENGTH = 100;
/** Rounds at the start that do not count. */
const WARM_UP = 20;
const TARGETS_MS = { postMedian: 5, postP99: 25, getMedian: 2 };

await runBench(
  "api-latency: request sent to answer read, one at a time, over one kept connection",
  async (bench) => {
    printColumns("median", "p99", "x median", "x p99");
    const post = await measureCreates(bench);
    const get = await measureReads(bench);
    await measureLists(bench);
    console.log("");
    printTarget("POST median", median(post), TARGETS_MS.postMedian, milliseconds);
    printTarget("POST p99", percentile(post, 99), TARGETS_MS.postP99, milliseconds);
    printTarget("GET median", median(get), TARGETS_MS.getMedian, milliseconds);
  },
);

async function measureCreates(bench: Bench): Promise<number[]> {
  const { pilvi } = bench;
  const db = storeOf(bench);
  const body = JSON.stringify(cacheBody());
  const create = () => request(`${pilvi.url}/api/caches`, body);
  const model = await create();
  await pilvi.untilStatus(idOf(model.text), "available");
  const bareUrl = await constantServer(bench, 201, model.text.length);
  const insert = await bareTransaction(db);
  const [bareMs, storeMs, postMs]: [number[], number[], number[]] = [[], [], []];
  for (let round = -WARM_UP; round < CREATES; round += 1) {
    const bare = await request(bareUrl, body);
    const stored = await timed(() => insert(body));
    const created = await create();
    // The next round begins on an idle machine: the effects of a create are measured elsewhere.
    await finish(pilvi, idOf(created.text));
    if (round < 0) continue;
    bareMs.push(bare.ms);
    storeMs.push(stored);
    postMs.push(created.ms);
  }
  await db`drop table bench_rows`;
  await finish(pilvi, idOf(model.text));
  printTimes(`POST: bare Bun.serve, ${model.text.length} bytes (baseline)`, bareMs);
  printTimes("POST: bare insert + commit on the same store", storeMs, bareMs);
  printTimes("POST /caches", postMs, bareMs);
  return postMs;
}

async function measureReads(bench: Bench): Promise<number[]> {
  const cache = await bench.pilvi.createCache();
  const url = `${bench.pilvi.url}/api/caches/${cache.id}`;
  const getMs = await measureGets(bench, url, READS, "GET /caches/ID");
  await finish(bench.pilvi, cache.id);
  return getMs;
}

/** The rows have no engines: the cost of a list does not depend on them, and 100 engines would be measured as well. */
async function measureLists(bench: Bench): Promise<void> {
  const { pilvi } = bench;
  const model = await pilvi.createCache();
  await insertCacheRows(storeOf(bench), vaultOf(pilvi), model.id, LIST_LENGTH - 1);
  await measureGets(
    bench,
    `${pilvi.url}/api/caches`,
    LISTS,
    `GET /caches, ${LIST_LENGTH} rows (99 without engine)`,
  );
}

async function measureGets(bench: Bench, url: string, rounds: number, label: string): Promise<number[]> {
  const { text } = await request(url);
  const bareUrl = await constantServer(bench, 200, text.length);
  const [bareMs, getMs]: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const bare = await request(bareUrl);
    const got = await request(url);
    if (round < 0) continue;
    bareMs.push(bare.ms);
    getMs.push(got.ms);
  }
  printTimes(`${label.split(" ", 1)[0]}: bare Bun.serve, ${text.length} bytes (baseline)`, bareMs);
  printTimes(label, getMs, bareMs);
  return getMs;
}

/** The smallest transaction that keeps a row, as the create's own does. */
async function bareTransaction(db: SQL): Promise<(text: string) => Promise<void>> {
  await db`create table bench_rows (id bigint generated always as identity primary key, content text not null)`;
  return async (text) => {
    await db.begin(async (tx) => {
      await tx`insert into bench_rows (content) values (${text})`;
    });
  };
}

async function finish(pilvi: TestPilvi, id: string): Promise<void> {
  await pilvi.untilStatus(id, "available");
  await pilvi.deleteCache(id);
}

/** Sends a request, a POST when there is a body; the time ends when the answer was read whole. */
async function request(url: string, body?: string): Promise<{ ms: number; text: string }> {
  let text = "";
  const ms = await timed(async () => {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    text = await response.text();
    if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  });
  return { ms, text };
}

function idOf(text: string): string {
  return (JSON.parse(text) as CacheDocument).data.id;
}

/** @returns milliseconds. */
async function timed(task: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await task();
  return performance.now() - startedAt;
}
