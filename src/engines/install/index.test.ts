// Installs the Postgres of the npm package into a fresh folder, as `npm test` does, and interrupts and repeats it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../lib/errors.ts";
import { findEngines } from "../installed.ts";
import { changeNote, enginesInStore } from "../store-folder.ts";
import { installEngines } from "./index.ts";

const checkoutDir = join(import.meta.dirname, "../../..");
let root: string;
let enginesDir: string;

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "install-"));
  enginesDir = join(root, "engines");
});

afterEach(() => rmSync(root, { recursive: true }));

function install(lines: string[] = [], folder = enginesDir) {
  return installEngines({
    enginesDir: folder,
    checkoutDir,
    progress: (line) => void lines.push(line),
    only: ["postgres"],
  });
}

test("Postgres is installed once, readable by every user, with nothing unfinished left", async () => {
  mkdirSync(join(enginesDir, "postgres.tmp"), { recursive: true });
  writeFileSync(join(enginesDir, "postgres.tmp", "half"), "");
  const reports = await install();
  expect(reports.every(({ name, state }) => name === "postgres" && state === "installed")).toBe(true);
  expect(reports.map(({ version = "" }) => version.split(".")[0])).toEqual(["18", "17", "16", "15", "14"]);
  const [engine] = await findEngines(enginesDir);
  if (engine === undefined) throw new Error("no engine was found");
  expect(engine).toMatchObject({ name: "postgres", origin: "store", env: {} });
  expect(readdirSync(enginesDir).filter((entry) => entry.endsWith(".tmp"))).toEqual([]);
  expect(statSync(engine.home).mode & 0o777).toBe(0o755);
  expect(existsSync(join(engine.home, "lib", "libpq.so.5"))).toBe(true);

  const lines: string[] = [];
  expect((await install(lines))[0]?.state).toBe("present");
  expect(lines).toEqual([]);
});

test("a Postgres that an earlier version installed loses the languages and gains trusted extensions", async () => {
  await install();
  const [engine] = enginesInStore(enginesDir);
  const home = engine?.home ?? "";
  const extensions = join(home, "share", "postgresql", "extension");
  expect(readdirSync(extensions).filter((name) => /perl|tcl|python/.test(name))).toEqual([]);
  const languages = ["pltcl.control", "hstore_plperlu.control", "plpython3u--1.0.sql"];
  for (const name of languages) writeFileSync(join(extensions, name), "trusted = true\n");
  writeFileSync(join(extensions, "bloom.control"), "default_version = '1.0'\n");
  await changeNote(home, { arrangement: "none" });

  const lines: string[] = [];
  await install(lines);
  expect(lines).toEqual([`extensions of postgres ${engine?.version} arranged`]);
  for (const name of languages) expect(existsSync(join(extensions, name))).toBe(false);
  expect(readFileSync(join(extensions, "bloom.control"), "utf8")).toContain("trusted = true\n");
  await install(lines);
  expect(lines).toHaveLength(1);
});

test("two installers at once take turns", async () => {
  const reports = await Promise.all([install(), install()]);
  expect(reports.map(([report]) => report?.state).sort()).toEqual(["installed", "present"]);
});

test("a folder that cannot be made is refused with one sentence", async () => {
  writeFileSync(join(root, "file"), "");
  const error = await install([], join(root, "file", "engines")).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Refusal);
  expect(String(error)).toContain("a part of the path is not a folder");
});
