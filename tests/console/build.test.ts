// The build of the console when it is disturbed: by another start, by kills, by a checkout that cannot be written, by faults in
// the sources. Each ends in a console or in a clear sentence, and the next start recovers. The sources here are small.
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConsoleFiles } from "../../src/api/http/console-files.ts";
import { Failpoints, until } from "../support/pilvi/pilvi.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Publishes the console as `pilvi up` does, and prints its complaints. */
const START = `
import { publishConsole } from "./src/processes/console/publish.ts";
await publishConsole(process.argv[2] ?? "", (text) => console.error(text)).finished;
`;

const SOURCES = {
  "main.tsx": "document.title = 'small';",
  "theme-start.ts": "document.title = 'early';",
  "style.css": '@import "tailwindcss" source(none);',
};

let folder: string;
let checkout: string;
let failpoints: Failpoints;
const started: Bun.Subprocess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-console-"));
  failpoints = new Failpoints();
});

afterAll(() => {
  failpoints.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A checkout of its own whose packages are those of this checkout. */
beforeEach(() => {
  checkout = mkdtempSync(join(folder, "checkout-"));
  cpSync(join(ROOT, "src"), join(checkout, "src"), {
    recursive: true,
    filter: (path) => !path.includes("/console/") || path.includes("/processes/console/"),
  });
  writeSources(SOURCES);
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(ROOT, name), join(checkout, name));
  mkdirSync(join(checkout, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== ".cache")
      symlinkSync(join(ROOT, "node_modules", name), join(checkout, "node_modules", name));
  }
  writeFileSync(join(checkout, "start.ts"), START);
});

afterEach(async () => {
  failpoints.release();
  for (const child of started.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

function writeSources(sources: Record<string, string>): void {
  mkdirSync(join(checkout, "src/console"), { recursive: true });
  for (const [name, text] of Object.entries(sources)) {
    writeFileSync(join(checkout, "src/console", name), text);
  }
}

/** Starts `pilvi up` as far as the console goes. */
function start(dataDir: string) {
  const child = Bun.spawn([process.execPath, "start.ts", join(checkout, dataDir)], {
    cwd: checkout,
    env: { ...process.env, ...failpoints.env, BUN_OPTIONS: "--define=PILVI_FAILPOINTS:true" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  started.push(child);
  return child;
}

/** Starts, and returns what was written for people. */
async function complaintsOf(dataDir: string): Promise<string> {
  const child = start(dataDir);
  const complaints = await new Response(child.stderr).text();
  expect(await child.exited).toBe(0);
  return complaints;
}

/** The console of a data directory is whole: a page, and each file that the page names. */
async function expectConsole(dataDir: string): Promise<void> {
  const files = new ConsoleFiles(join(checkout, dataDir, "console"));
  const page = await files.page("");
  const html = await new Response(page?.body).text();
  const names = [...html.matchAll(/\/assets\/(?<name>[^"]+)"/g)].map(({ groups }) => groups?.name ?? "");
  expect(names.length).toBe(3);
  for (const name of names) {
    for (const encodings of ["", "gzip", "br"]) expect(await files.asset(name, encodings)).toBeDefined();
  }
}

const buildsIn = (path: string) => readdirSync(join(checkout, path));
const CACHE = "node_modules/.cache/pilvi-console";

test("two starts at once build the same console, and both serve it", async () => {
  failpoints.arm("console.written");
  const first = start("one");
  await failpoints.reached();
  expect(await complaintsOf("two")).toBe("");
  await expectConsole("two");
  failpoints.release();
  expect([await new Response(first.stderr).text(), await first.exited]).toEqual(["", 0]);
  await expectConsole("one");
  expect(buildsIn(CACHE)).toHaveLength(1);
});

test("a start that is killed while its build goes on leaves a console for the next start", async () => {
  failpoints.arm("console.written");
  const child = start("data");
  await failpoints.reached();
  child.kill("SIGKILL");
  await child.exited;
  failpoints.release();
  await until("the build has ended", () => buildsIn(CACHE).every((name) => !name.includes(".")));
  expect(await complaintsOf("data")).toBe("");
  await expectConsole("data");
});

test("a build that is killed is said, and the next start builds anew and leaves nothing of it", async () => {
  failpoints.arm("console.written");
  const child = start("data");
  process.kill(await failpoints.reached(), "SIGKILL");
  expect(await new Response(child.stderr).text()).toBe(
    "There is no console: Its build ended early (SIGKILL). Start Pilvi again to build it anew.\n",
  );
  expect(buildsIn(CACHE)).toEqual([expect.stringMatching(/^\w+\.\d+$/)]);
  failpoints.release();
  expect(await complaintsOf("data")).toBe("");
  await expectConsole("data");
  expect(buildsIn(CACHE)).toEqual([expect.stringMatching(/^\w+$/)]);
});

test("a checkout that cannot be written has its build in the data directory", async () => {
  // Root may write everywhere, so a file stands in the place of the folder.
  writeFileSync(join(checkout, "node_modules/.cache"), "");
  expect(await complaintsOf("data")).toBe("");
  await expectConsole("data");
  expect(await complaintsOf("data")).toBe("");
  expect(buildsIn("data/console")).toHaveLength(2);
});

test("a fault in the sources is said in one line, and its correction is built", async () => {
  writeSources({ "main.tsx": "import './missing.ts';" });
  const complaints = await complaintsOf("data");
  expect(complaints).toStartWith("There is no console: ");
  expect(complaints).toContain("missing.ts");
  expect(complaints.trim().split("\n")).toHaveLength(1);
  writeSources(SOURCES);
  expect(await complaintsOf("data")).toBe("");
  await expectConsole("data");
});

test("a data directory that cannot have the console is said, and ends nothing", async () => {
  mkdirSync(join(checkout, "data"));
  writeFileSync(join(checkout, "data/console"), "");
  expect(await complaintsOf("data")).toStartWith("There is no console: ");
});
