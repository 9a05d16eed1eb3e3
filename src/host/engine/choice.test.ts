// What was chosen for an instance while its host runs: programs are replaced and removed, and a certificate is renewed.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import type { EngineName } from "../../contracts/engine-names.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { cacheSpec, specsOf } from "../../drivers/test-support.ts";
import { NOTE_FILE, type EngineNote } from "../../engines/store-folder.ts";
import * as system from "../../engines/system-programs.ts";
import { manifestFor } from "../manifest/spec-change.ts";
import { instanceFolder } from "../os/layout.ts";
import { hostSettings } from "../test-support.ts";
import { Choice } from "./choice.ts";
import type { HostSettings } from "./context.ts";

let dataDir: string;
let program: string;
let settings: HostSettings;
let choice: Choice;
let systemSearch: ReturnType<typeof spyOn>;

beforeEach(() => {
  dataDir = freshDataDir();
  program = join(dataDir, "valkey-server");
  settings = hostSettings({ dataDir, enginesDir: join(dataDir, "engines") });
  choice = new Choice({ settings, folder: instanceFolder(dataDir, "cache-1") });
  systemSearch = spyOn(system, "systemPrograms").mockImplementation(() =>
    existsSync(program) ? [{ path: program, ...statSync(program) }] : [],
  );
});

afterEach(() => {
  systemSearch.mockRestore();
  rmSync(dataDir, { recursive: true });
});

const manifestOf = (spec: InstanceSpec, name: EngineName, major: string) =>
  manifestFor(spec, { name, major }, null, () => null);
const cache = manifestOf(cacheSpec(20_000, "moi"), "valkey", "8");

/** The version that is chosen for the cache. */
async function chosen(isRunning = false): Promise<string> {
  return (await choice.of(cache, isRunning)).context.installed.version;
}

/** Replaces the program of the system. */
function replaceProgram(version: string): void {
  rmSync(program, { force: true });
  writeFileSync(program, `#!/bin/sh\necho "Valkey server v=${version} sha=0"\n`);
  chmodSync(program, 0o755);
}

function addToStore(version: string): string {
  const home = join(settings.enginesDir, `valkey-${version}`);
  const note: EngineNote = { name: "valkey", version, program: "server", libraryDirs: [] };
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "server"), version);
  writeFileSync(join(home, NOTE_FILE), JSON.stringify(note));
  return home;
}

test("a program that was replaced is chosen by its present version, and never starts on data of another major", async () => {
  replaceProgram("8.1.1");
  expect(await chosen()).toBe("8.1.1");
  replaceProgram("8.1.12");
  expect(await chosen(true)).toBe("8.1.1");
  expect(await chosen()).toBe("8.1.12");
  replaceProgram("9.0.0");
  const refused = "valkey 8 is not installed on this host. Run: pilvi engines install";
  expect(await chosen().catch((error: Error) => error.message)).toBe(refused);
});

test("the installed engines are read once while no program changes", async () => {
  replaceProgram("8.1.1");
  await chosen();
  await chosen();
  await new Choice({ settings, folder: instanceFolder(dataDir, "cache-2") }).of(cache, false);
  expect(systemSearch).toHaveBeenCalledTimes(1);
});

test("an engine whose folder was removed gives way to another of its major version", async () => {
  const home = addToStore("8.1.1");
  expect(await chosen()).toBe("8.1.1");
  addToStore("8.1.9");
  rmSync(home, { recursive: true });
  expect(await chosen()).toBe("8.1.9");
});

test("a start has the certificate of now, and a server that runs that of its start", async () => {
  const { realtime } = specsOf(20_000);
  if (realtime === undefined) throw new Error("there is no such spec");
  const exposure = { ...realtime.exposure, scope: "public" as const };
  const own = { origin: "pilvi" as const, program: "/bun", home: "/", env: {} };
  settings.ownEngines = [{ name: "realtime", version: "1", ...own }];
  const manifest = manifestOf({ ...realtime, exposure }, "realtime", "any");
  const shown = async (isRunning = false) => (await choice.of(manifest, isRunning)).context.certificate;
  const [former, renewed] = [1, 2].map((serial) => ({ cert: `CERT ${serial}`, key: `KEY ${serial}` }));
  settings.certificate = former ?? null;
  expect(await shown()).toEqual(former ?? null);
  settings.certificate = renewed ?? null;
  expect(await shown(true)).toEqual(former ?? null);
  expect(await shown()).toEqual(renewed ?? null);
});
