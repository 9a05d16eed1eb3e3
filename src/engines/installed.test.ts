// Finds engines in a made-up folder and on a made-up PATH.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commandOf, findEngines } from "./installed.ts";
import { parseVersion } from "./program-version.ts";
import { compareVersions } from "./versions.ts";

const systemPath = process.env.PATH;
let root: string;
let enginesDir: string;

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "installed-"));
  enginesDir = join(root, "engines");
  mkdirSync(enginesDir);
});

afterEach(() => {
  process.env.PATH = systemPath;
  rmSync(root, { recursive: true });
});

function writeProgram(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function addToStore(folder: string, note: unknown): void {
  mkdirSync(join(enginesDir, folder));
  writeFileSync(join(enginesDir, folder, "pilvi-engine.json"), JSON.stringify(note));
}

function valkeyNote(version: string) {
  return { name: "valkey", version, program: "usr/bin/valkey-server", libraryDirs: ["usr/lib/x"] };
}

async function foundBelow(folder: string) {
  const engines = await findEngines(enginesDir);
  return engines.filter(({ program }) => program.startsWith(folder));
}

test("engines of the store are listed with their paths and environment, the newest first", async () => {
  addToStore("valkey-8.0.9", valkeyNote("8.0.9"));
  addToStore("valkey-8.0.10", valkeyNote("8.0.10"));
  const home = join(enginesDir, "valkey-8.0.10");
  const [first, second] = await foundBelow(root);
  expect(first).toEqual({
    name: "valkey",
    version: "8.0.10",
    origin: "store",
    program: join(home, "usr/bin/valkey-server"),
    home,
    env: { LD_LIBRARY_PATH: join(home, "usr/lib/x") },
  });
  expect(second?.version).toBe("8.0.9");
});

test("an engine with known holes comes after an engine without, whatever their versions", async () => {
  const patched = { package: { version: "8.1.1+dfsg1-3+deb13u3", release: "trixie" } };
  const loader = { loader: "usr/lib/x/ld-linux-x86-64.so.2" };
  addToStore("valkey-8.1.9", valkeyNote("8.1.9"));
  addToStore("valkey-8.1.1", { ...valkeyNote("8.1.1"), ...patched, ...loader });
  const [first, second] = await foundBelow(root);
  const home = join(enginesDir, "valkey-8.1.1");
  expect(first).toMatchObject({ version: "8.1.1", env: {}, ...patched });
  const own = [join(home, loader.loader), "--inhibit-cache", "--library-path", join(home, "usr/lib/x")];
  expect(first && commandOf(first)).toEqual([...own, join(home, "usr/bin/valkey-server")]);
  expect(second?.version).toBe("8.1.9");
});

test("an unfinished or broken engine is skipped", async () => {
  addToStore("valkey.tmp", valkeyNote("8.0.1"));
  addToStore(".apt.tmp", valkeyNote("8.0.1"));
  addToStore("redis-1", { name: "redis" });
  mkdirSync(join(enginesDir, "empty"));
  writeProgram(join(root, "bin/redis-server"), "exit 1");
  process.env.PATH = join(root, "bin");
  expect(await foundBelow(root)).toEqual([]);
});

test("a store folder that does not exist yet has no engines", async () => {
  rmSync(enginesDir, { recursive: true });
  expect(await foundBelow(root)).toEqual([]);
});

test("programs of the system come after the store, and are asked for their version once", async () => {
  addToStore("valkey-8.0.1", valkeyNote("8.0.1"));
  const program = join(root, "bin/valkey-server");
  const asked = join(root, "asked");
  writeProgram(program, `echo x >> ${asked}; echo "Valkey server v=9.0.0 sha=0"`);
  process.env.PATH = join(root, "bin");

  await findEngines(enginesDir);
  const engines = await foundBelow(root);
  expect(engines.map(({ origin, version }) => [origin, version])).toEqual([
    ["store", "8.0.1"],
    ["system", "9.0.0"],
  ]);
  expect(engines[1]).toMatchObject({ program, home: join(root, "bin"), env: {} });
  expect(readFileSync(asked, "utf8")).toBe("x\n");

  writeProgram(program, `echo "Valkey server v=9.0.1 sha=0"`);
  expect((await foundBelow(root))[1]?.version).toBe("9.0.1");
});

test("a Postgres without initdb beside it is skipped", async () => {
  const bin = join(root, "bin");
  writeProgram(join(bin, "postgres"), `echo "postgres (PostgreSQL) 17.2"`);
  process.env.PATH = bin;
  expect(await foundBelow(root)).toEqual([]);
  writeProgram(join(bin, "initdb"), "");
  expect(await foundBelow(root)).toHaveLength(1);
});

test("a program below the working directory is not taken from PATH", async () => {
  const before = process.cwd();
  writeProgram(join(root, "bin/redis-server"), `echo "Redis server v=7.4.0 sha=0"`);
  process.env.PATH = `bin:.:${join(root, "bin")}`;
  process.chdir(root);
  try {
    expect(await foundBelow(root)).toEqual([]);
  } finally {
    process.chdir(before);
  }
});

test("the version answer of each engine is understood", () => {
  const answers = {
    "Valkey server v=8.0.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64": ["valkey", "8.0.1"],
    "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0": ["redis", "7.0.15"],
    "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": ["postgres", "15.18"],
    "postgres (PostgreSQL) 19beta1": ["postgres", "19"],
    "/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu": ["mariadb", "10.11.19"],
  };
  for (const [answer, [name, version]] of Object.entries(answers)) {
    expect(parseVersion(answer)).toEqual(expect.objectContaining({ name, version }));
  }
  expect(parseVersion("bash, version 5")).toBeUndefined();
  // Pilvi runs no MySQL, whose program may have the same name as MariaDB's.
  expect(
    parseVersion("mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)"),
  ).toBeUndefined();
});

test("versions are ordered by their numbers", () => {
  expect(["10.2", "9.10", "9.9.1", "9.9"].toSorted(compareVersions)).toEqual([
    "9.9",
    "9.9.1",
    "9.10",
    "10.2",
  ]);
  expect(compareVersions("18", "18.0")).toBe(0);
});
