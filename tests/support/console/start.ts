// A Pilvi whose console is built, and a browser for it.
import { startChromium, type TestBrowser } from "../clients/chromium.ts";
import { startPilvi, type StartOptions, type TestPilvi, until } from "../pilvi/pilvi.ts";

/** A first start builds the console, which takes long on a busy machine. */
export const CONSOLE_START_MS = 240_000;

export interface TestConsole {
  pilvi: TestPilvi;
  chromium: TestBrowser;
  /** Ends both and deletes their files. */
  close(): Promise<void>;
}

/** Starts both, and waits until the console is served. */
export async function startConsole(options: StartOptions = {}): Promise<TestConsole> {
  const [pilvi, chromium] = await Promise.all([startPilvi(options), startChromium()]);
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  return {
    pilvi,
    chromium,
    close: async () => {
      await chromium.close();
      await pilvi.close();
    },
  };
}
