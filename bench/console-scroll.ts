// Measures the frames of the console while its list of 10,000 caches scrolls from end to end, beside the frames of a
// plain page that has all rows in it.
import { insertCacheRows } from "../tests/support/cache-rows.ts";
import { startChromium } from "../tests/support/clients/chromium.ts";
import { ConsolePage } from "../tests/support/console/console-page.ts";
import { makeOwner } from "../tests/support/console/sign-in.ts";
import { freshDatabase } from "../tests/support/engines/postgres.ts";
import { forward } from "../tests/support/pilvi/forwarder.ts";
import { startPilvi, until } from "../tests/support/pilvi/pilvi.ts";
import type { Database } from "../src/store/database.ts";
import { runWithoutPilvi, type Endings } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printRow, printTarget } from "./support/report.ts";
import { median, percentile } from "./support/statistics.ts";

const ROUNDS = countOption(5);
const ROWS = 10_000;
const FIRST = 10_000_001;
/** How far each frame scrolls: as fast as a person who pulls the bar, and slowly as with a wheel. */
const STEPS_PX = { pulled: 4_000, wheeled: 120 };
const FRAMES = 110;
/** Longer frames are seen as a halt. */
const LONG_MS = 50;
const TARGET_LONG = 0.02;

const PLAIN = `<!doctype html><title>plain</title><ul>${Array.from(
  { length: ROWS },
  (_, index) => `<li style="height:44px"><a href="#">cache-${FIRST + index}</a> <span>available</span></li>`,
).join("")}</ul>`;

await runWithoutPilvi(`console-scroll: ${ROWS} caches, ${ROUNDS} rounds`, async ({ atEnd }) => {
  const chromium = await startChromium();
  atEnd(() => chromium.close());
  const { url, fill } = await startOnStore(atEnd);
  const list = await ConsolePage.open(chromium, url);
  await fill(list);
  await list.goto("/caches");
  await list.page.getByText(`${ROWS} in all`, { exact: true }).waitFor();
  const plain = await chromium.browser.newPage();
  await plain.setContent(PLAIN);
  for (const [how, stepPx] of Object.entries(STEPS_PX)) {
    const frames: Record<"plain" | "list", number[]> = { plain: [], list: [] };
    // The first round warms both pages up and does not count.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const ofPlain = await plain.evaluate<number[]>(scroll(stepPx));
      const ofList = await list.page.evaluate<number[]>(scroll(stepPx));
      if (round === 0) continue;
      frames.plain.push(...ofPlain);
      frames.list.push(...ofList);
    }
    printColumns("median", "p99", "longest", `over ${LONG_MS} ms`);
    printFrames(`plain rows, ${how} (baseline)`, frames.plain);
    printFrames(`list of caches, ${how}`, frames.list);
    printTarget(`${how}: share of long frames`, shareOfLong(frames.list), TARGET_LONG, percent);
  }
});

/** A script that scrolls from the top, a step a frame, and returns how long each frame took. */
function scroll(stepPx: number): string {
  return `new Promise((resolve) => {
    const frames = [];
    scrollTo(0, 0);
    let last = 0;
    const next = (now) => {
      if (last > 0) frames.push(now - last);
      last = now;
      scrollBy(0, ${stepPx});
      if (frames.length === ${FRAMES}) resolve(frames);
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`;
}

function printFrames(label: string, frames: number[]): void {
  const times = [median(frames), percentile(frames, 99), Math.max(...frames)];
  printRow(label, ...times.map(milliseconds), percent(shareOfLong(frames)));
}

function shareOfLong(frames: number[]): number {
  return frames.filter((ms) => ms > LONG_MS).length / frames.length;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A Pilvi on a store of this process's own, into which rows can be written. */
async function startOnStore(atEnd: Endings["atEnd"]) {
  const db = await freshDatabase();
  atEnd(() => db.close());
  const { path, database } = db.options as { path: string; database: string };
  const forwarder = forward(path);
  atEnd(() => forwarder.close());
  const env = { PILVI_DATABASE_URL: `postgres://pilvi@127.0.0.1:${forwarder.port}/${database}` };
  const pilvi = await startPilvi({ env });
  atEnd(() => pilvi.close());
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  const fill = async (window: ConsolePage) => {
    await makeOwner(window, pilvi);
    await insertRows(db);
  };
  return { url: pilvi.url, fill };
}

async function insertRows(db: Database): Promise<void> {
  // The rows have no real credentials, which a viewer does not see.
  await db`update members set role = 'viewer'`;
  const [place] = await db<{ organizationId: string; hostId: string }[]>`
    select o.id as "organizationId", h.id as "hostId" from organizations o, hosts h`;
  if (place === undefined) throw new Error("there is no host");
  await insertCacheRows(db, FIRST, ROWS, place);
}
