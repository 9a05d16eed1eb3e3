// A real Chromium for tests: the machine's own, or a copy that is fetched once and unpacked beside the engines.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { PROGRAMS_HOME } from "./programs.ts";
import { unpackPackages } from "./unpack-packages.ts";

const HOME = join(dirname(PROGRAMS_HOME), "test-chromium");
/** The program itself; the script that starts it elsewhere has absolute paths in it. */
const PROGRAM = join(HOME, "usr/lib/chromium/chromium");

/** No network requests but the page's, and no sandbox, which root cannot have. */
const ARGUMENTS = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-breakpad",
];

/** A browser with a home directory of its own. */
export interface TestBrowser {
  browser: Browser;
  /** Ends it and deletes its files. */
  close(): Promise<void>;
}

/**
 * Starts a browser, which a run by hand may have to fetch first.
 * @param more further arguments of the program.
 * @throws Error when the machine has none and its distribution has no package that can be unpacked.
 */
export async function startChromium(more: readonly string[] = []): Promise<TestBrowser> {
  const { executablePath, libraries } = await ensureChromium();
  const home = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-chromium-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: home, LD_LIBRARY_PATH: libraries };
  const browser = await chromium.launch({ executablePath, args: [...ARGUMENTS, ...more], env });
  return {
    browser,
    close: async () => {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Finds the browser, after it was fetched where the machine has none, which takes some 20 s. */
export async function ensureChromium(): Promise<{ executablePath: string; libraries: string }> {
  const installed = ["chromium", "google-chrome"]
    .map((name) => Bun.which(name))
    .find((path) => path !== null);
  if (installed !== undefined) return { executablePath: installed, libraries: "" };
  if (!existsSync(PROGRAM)) await unpackPackages(["chromium"], HOME);
  return { executablePath: PROGRAM, libraries: librariesBelow(join(HOME, "usr/lib")).join(":") };
}

/** All folders that hold libraries: some packages nest theirs a level deeper than others. */
function librariesBelow(folder: string): string[] {
  const files = new Bun.Glob("*-linux-gnu/**/*.so*").scanSync({ cwd: folder, followSymlinks: false });
  return [...new Set(Array.from(files, (file) => dirname(join(folder, file))))];
}
