// Counts what a page of a browser receives over the wire, headers and all.
import type { Page } from "playwright-core";
import { until } from "../pilvi/pilvi.ts";

/** Longer than a page takes between an answer and the request that follows from it. */
const SILENCE_MS = 750;

interface Received {
  url: string;
  bytes: number;
  isDone: boolean;
}

/** The bytes of a page, from the call on. */
export class Traffic {
  readonly #received = new Map<string, Received>();
  #latestMs = performance.now();

  static async of(page: Page): Promise<Traffic> {
    const traffic = new Traffic();
    const devtools = await page.context().newCDPSession(page);
    devtools.on("Network.requestWillBeSent", ({ requestId, request: { url } }) => {
      if (!url.startsWith("data:")) traffic.#note(requestId, { url, bytes: 0, isDone: false });
    });
    devtools.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
      const known = traffic.#received.get(requestId);
      if (known?.isDone === false)
        traffic.#note(requestId, { ...known, bytes: known.bytes + encodedDataLength });
    });
    devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength: bytes }) => {
      const known = traffic.#received.get(requestId);
      if (known !== undefined) traffic.#note(requestId, { ...known, bytes, isDone: true });
    });
    devtools.on("Network.loadingFailed", ({ requestId }) => {
      const known = traffic.#received.get(requestId);
      if (known !== undefined) traffic.#note(requestId, { ...known, isDone: true });
    });
    await devtools.send("Network.enable");
    return traffic;
  }

  #note(id: string, received: Received): void {
    this.#received.set(id, received);
    this.#latestMs = performance.now();
  }

  /** Waits until everything but endless streams has come. */
  async untilSilent(): Promise<void> {
    await until("the page has loaded", () => {
      const isLoading = [...this.#received.values()].some(
        ({ url, isDone }) => !isDone && !url.includes("follow"),
      );
      return this.#received.size > 0 && !isLoading && performance.now() - this.#latestMs > SILENCE_MS;
    });
  }

  get bytes(): number {
    return [...this.#received.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The largest answers, for a reader of a test that fails. */
  get largest(): string[] {
    const sorted = [...this.#received.values()].sort((one, other) => other.bytes - one.bytes);
    return sorted.slice(0, 6).map(({ url, bytes }) => `${bytes} ${new URL(url).pathname}`);
  }
}
