// Measures the cost of 100,000 caches of an organization in lists, reads, creates and at a start, beside ten caches, in
// turn.
import { TOKEN, type TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { storeOf, vaultOf } from "./support/baselines.ts";
import { runWithoutPilvi, startMeasured, type Endings } from "./support/bench.ts";
import { orderCache } from "./support/caches.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printRow, printTarget, times } from "./support/report.ts";
import { insertCacheRows } from "./support/rows.ts";
import { suspend, VALKEY_SLEEPER } from "./support/sleepers.ts";
import { median, percentile } from "./support/statistics.ts";

const FEW = 10;
const MANY = countOption(100_000);
/** The number of rows with a status that a filter looks for. */
const RARE = 5;
const ROUNDS = 300;
const CREATES = 60;
const STARTS = 5;
/** Rounds at the start that do not count. */
const WARM_UP = 30;
const TARGET = 1.2;

/** A Pilvi with a number of caches. */
interface Grown {
  pilvi: TestPilvi;
  count: number;
  ids: string[];
}

/** A step to measure; its time is that of the whole call. */
type Step = (grown: Grown) => Promise<unknown>;

/** No longer than any filtered list of the few caches, since each row of an answer has a cost of its own. */
const PER_PAGE = RARE;
const PAGE = `per_page=${PER_PAGE}`;
const pages = ({ count }: Grown) => Math.ceil(count / PER_PAGE);
const list =
  (query: (grown: Grown) => string): Step =>
  (grown) =>
    get(grown, `/caches?${PAGE}&${query(grown)}`);

const READS: Record<string, Step> = {
  "GET /caches": list(() => ""),
  "GET /caches, the page in the middle": list((grown) => `page=${Math.ceil(pages(grown) / 2)}`),
  "GET /caches, the last page": list((grown) => `page=${pages(grown)}`),
  "GET /caches, filter[status]=available": list(() => "filter[status]=available"),
  "GET /caches, filter[status]=unknown, which 5 have": list(() => "filter[status]=unknown"),
  "GET /caches, filter[status]=deleting, which none has": list(() => "filter[status]=deleting"),
  "GET /caches, three filters": list(
    () => "filter[type]=platform_valkey&filter[region]=eu-central-1&filter[status]=available",
  ),
  "GET /caches/ID": (grown) => get(grown, `/caches/${grown.ids[Math.floor(grown.ids.length / 2)]}`),
  "GET /metrics": ({ pilvi }) => pilvi.metrics(),
  "GET /meta/organization": (grown) => get(grown, "/meta/organization"),
};

await runWithoutPilvi(`growth: ${FEW} caches and ${MANY}, asleep, of one organization`, async (endings) => {
  const few = await grow(endings, FEW);
  const many = await grow(endings, MANY);
  printColumns(`${FEW}`, `${MANY}`, "p99", "p99", "ratio");
  const ratios: number[] = [];
  for (const [label, step] of Object.entries(READS))
    ratios.push(await compare(label, step, [few, many], ROUNDS));
  const created: Record<string, string> = {};
  const create: Step = async ({ pilvi }) => void (created[pilvi.dataDir] = (await orderCache(pilvi)).id);
  const settle: Step = async ({ pilvi }) =>
    await pilvi.untilStatus(created[pilvi.dataDir] ?? "", "available");
  const remove: Step = async ({ pilvi }) => await pilvi.deleteCache(created[pilvi.dataDir] ?? "");
  ratios.push(...(await compareLives({ create, settle, remove }, [few, many])));
  ratios.push(await compareStarts([few, many]));
  console.log("");
  printTarget("the largest ratio", Math.max(...ratios), TARGET, times);
});

/** A Pilvi with one real cache; all its other caches are rows in the store alone. */
async function grow(endings: Endings, count: number): Promise<Grown> {
  const pilvi = await startMeasured({});
  endings.atEnd(() => pilvi.close());
  const model = await VALKEY_SLEEPER.create(pilvi);
  await suspend(pilvi, model);
  const db = storeOf({ pilvi, ...endings });
  const ids = await insertCacheRows(db, vaultOf(pilvi), model.id, count - 1);
  const every = Math.floor(ids.length / Math.min(RARE, ids.length));
  const rare = ids.filter((_, index) => index % every === 0).slice(0, RARE);
  await db`update caches set status = 'unknown' where id = any(${db.array(rare, "text")})`;
  await db`vacuum analyze`;
  return { pilvi, count, ids: [model.id, ...ids] };
}

async function compare(label: string, step: Step, both: readonly Grown[], rounds: number): Promise<number> {
  const timesMs: number[][] = both.map(() => []);
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // Both sides go first equally often.
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const grown = both[index];
      if (grown === undefined) continue;
      const ms = await timed(() => step(grown));
      if (round >= 0) timesMs[index]?.push(ms);
    }
  }
  return printCompared(label, timesMs);
}

/** Measures a cache's creation, its way to `available`, and its end, each by itself. */
async function compareLives(
  steps: Record<"create" | "settle" | "remove", Step>,
  both: readonly Grown[],
): Promise<number[]> {
  const labels = {
    create: "POST /caches",
    settle: "201 to available",
    remove: "DELETE to gone",
  };
  const timesMs = {
    create: both.map((): number[] => []),
    settle: both.map((): number[] => []),
    remove: both.map((): number[] => []),
  };
  for (let round = -WARM_UP / 3; round < CREATES; round += 1) {
    for (const [index, grown] of both.entries()) {
      for (const name of ["create", "settle", "remove"] as const) {
        const ms = await timed(() => steps[name](grown));
        if (round >= 0) timesMs[name][index]?.push(ms);
      }
    }
  }
  return (["create", "settle", "remove"] as const).map((name) => printCompared(labels[name], timesMs[name]));
}

async function compareStarts(both: readonly Grown[]): Promise<number> {
  const timesMs: number[][] = both.map(() => []);
  for (let round = 0; round < STARTS; round += 1) {
    for (const [index, { pilvi }] of both.entries()) {
      await pilvi.stop();
      timesMs[index]?.push(await timed(() => pilvi.start()));
    }
  }
  return printCompared("start to ready", timesMs);
}

/** @returns the ratio of the second median to the first. */
function printCompared(label: string, [few = [], many = []]: readonly number[][]): number {
  const ratio = median(many) / median(few);
  const figures = [median(few), median(many), percentile(few, 99), percentile(many, 99)];
  printRow(label, ...figures.map(milliseconds), times(ratio));
  return ratio;
}

async function get({ pilvi }: Grown, path: string): Promise<string> {
  const response = await fetch(`${pilvi.url}/api${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

/** @returns milliseconds. */
async function timed(task: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await task();
  return performance.now() - startedAt;
}
