// Measures how soon an open page of the console shows a change that somebody else makes, beside a plain reader of the
// stream of events, who need not ask for the changed resource nor draw it.
import { startChromium } from "../tests/support/clients/chromium.ts";
import { ConsolePage } from "../tests/support/console/console-page.ts";
import { makeOwner } from "../tests/support/console/sign-in.ts";
import { TOKEN, until, type TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printTarget, printTimes } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(50);
const WARM_UP = 5;
const TARGET_MS = 200;

await runBench(
  `console-live: a change made by the API, seen in a page, ${ROUNDS} rounds`,
  async ({ pilvi }) => {
    const chromium = await startChromium();
    const reading = new AbortController();
    try {
      const window = await ConsolePage.open(chromium, pilvi.url);
      await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
      await makeOwner(window, pilvi);
      const cache = await pilvi.createCache({ name: "round-0" });
      await window.goto("/caches");
      await window.page.getByText("round-0").waitFor();
      const stream = readStream(pilvi, reading.signal);
      const samples: Record<"stream" | "page", number[]> = { stream: [], page: [] };
      for (let round = 1; round <= WARM_UP + ROUNDS; round += 1) {
        const name = `round-${round}`;
        const event = stream.next();
        const shown = window.page.evaluate<number>(noticeOf(name));
        await pilvi.api("PATCH", `/caches/${cache.id}`, { name });
        const changedAt = Date.now();
        const seen = { stream: await event, page: await shown };
        if (round <= WARM_UP) continue;
        // The event may be there before the answer is.
        samples.stream.push(Math.max(0, seen.stream - changedAt));
        samples.page.push(Math.max(0, seen.page - changedAt));
      }
      printColumns("median", "p99", "x median", "x p99");
      printTimes("answer of the change to the event (baseline)", samples.stream);
      printTimes("answer of the change to the page", samples.page, samples.stream);
      printTarget("the page, median", median(samples.page), TARGET_MS, milliseconds);
    } finally {
      reading.abort();
      await chromium.close();
    }
  },
);

/** A script that returns when the page shows the text, as milliseconds since 1970. */
function noticeOf(text: string): string {
  return `new Promise((resolve) => {
    const look = () => document.body.textContent.includes(${JSON.stringify(text)});
    new MutationObserver((_, observer) => {
      if (!look()) return;
      observer.disconnect();
      resolve(Date.now());
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  })`;
}

/** Reads the stream of events. `next` resolves with the time of the next event, in milliseconds since 1970. */
function readStream(pilvi: TestPilvi, signal: AbortSignal): { next(): Promise<number> } {
  let waiting = Promise.withResolvers<number>();
  const read = async () => {
    const answer = await fetch(`${pilvi.url}/api/events?follow=1`, {
      headers: { Authorization: `Bearer ${TOKEN}`, Accept: "text/event-stream" },
      signal,
    });
    for await (const chunk of answer.body ?? []) {
      if (new TextDecoder().decode(chunk).includes("data:")) waiting.resolve(Date.now());
    }
  };
  void read().catch(() => undefined);
  return {
    next: () => {
      waiting = Promise.withResolvers<number>();
      return waiting.promise;
    },
  };
}
