// How Pilvi stops: by signals, by the end of its parent, and in the middle of its start.
import { afterEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, pilviEnv, until } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { processesAt } from "../../support/pilvi/program.ts";
import { expectStop, expectStopBy } from "./interrupted-start.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = freshDataDir();
  folders.push(folder);
  return folder;
}

describe("a signal stops everything", () => {
  // tests/full has the other signals, and stops at more moments.
  test("SIGINT, even when it comes twice", () => expectStopBy("SIGINT"));
  test("250 ms after the start", () => expectStop(250));
});

describe("the script that npm runs", () => {
  const SCRIPT = join(import.meta.dir, "../../../scripts/pilvi.mjs");

  test.each(["SIGINT", "SIGTERM"] as const)("passes %s on and ends after Pilvi", async (signal) => {
    const dataDir = newFolder();
    const child = await startScript(dataDir);
    child.kill(signal);
    expect(await child.exited).toBe(0);
    expect(processesAt(dataDir)).toEqual([]);
  });

  test("leaves no process running when it is killed", async () => {
    const dataDir = newFolder();
    const child = await startScript(dataDir);
    child.kill("SIGKILL");
    await until("nothing is left running", () => processesAt(dataDir).length === 0);
  });

  async function startScript(dataDir: string) {
    const env = pilviEnv(dataDir, freePort());
    const child = Bun.spawn(["node", SCRIPT, "up"], { env, stdio: ["ignore", "ignore", "inherit"] });
    const url = `http://127.0.0.1:${env.PILVI_PORT}/readyz`;
    await until("Pilvi is ready", async () => (await fetch(url).catch(() => null))?.ok === true);
    return child;
  }
});
