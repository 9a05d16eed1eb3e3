// A new cache gets the first engine of its spec that is installed and safe, or an unsafe engine where no other serves it.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { cacheSpec } from "../../drivers/test-support.ts";
import { NOTE_FILE, type EngineNote } from "../../engines/store-folder.ts";
import * as system from "../../engines/system-programs.ts";
import { hostSettings } from "../test-support.ts";
import { chooseEngine } from "./context.ts";

type Installed = Pick<EngineNote, "name" | "version" | "package">;

const VALKEY: Installed = {
  name: "valkey",
  version: "8.1.1",
  package: { version: "8.1.99-1", release: "trixie" },
};
const UNSAFE_VALKEY: Installed = { name: "valkey", version: "8.0.1" };
const REDIS: Installed = {
  name: "redis",
  version: "7.0.15",
  package: { version: "5:7.0.99-1", release: "bookworm" },
};
const UNSAFE_REDIS: Installed = { name: "redis", version: "7.2.1" };

let enginesDir: string;
let systemSearch: ReturnType<typeof spyOn>;

beforeEach(() => {
  enginesDir = freshDataDir();
  systemSearch = spyOn(system, "systemPrograms").mockReturnValue([]);
});

afterEach(() => {
  systemSearch.mockRestore();
  rmSync(enginesDir, { recursive: true });
});

async function chosenOf(installed: Installed[]): Promise<string> {
  for (const engine of installed) {
    const home = join(enginesDir, `${engine.name}-${engine.version}`);
    const note: EngineNote = { ...engine, program: "bin/server", libraryDirs: [] };
    mkdirSync(home);
    writeFileSync(join(home, NOTE_FILE), JSON.stringify(note));
  }
  const settings = hostSettings({ dataDir: "/nonexistent", enginesDir });
  const spec = cacheSpec(20_000, "moi");
  expect(spec).toMatchObject({ engines: ["valkey", "redis"] });
  return (await chooseEngine(settings, spec)).name;
}

test.each<[string, Installed[], string]>([
  ["Valkey and Redis without known holes", [VALKEY, REDIS], "valkey"],
  ["an unsafe Valkey and a patched Redis", [UNSAFE_VALKEY, REDIS], "redis"],
  ["an unsafe Valkey alone", [UNSAFE_VALKEY], "valkey"],
  ["an unsafe Valkey and an unsafe Redis", [UNSAFE_VALKEY, UNSAFE_REDIS], "valkey"],
  ["a patched Redis alone", [REDIS], "redis"],
])("a Valkey cache of a host with %s", async (_, installed, expected) => {
  expect(await chosenOf(installed)).toBe(expected);
});

test("a Valkey cache of a host with neither Valkey nor Redis is refused with the remedy", async () => {
  await expect(chosenOf([])).rejects.toThrow(
    "valkey or redis is not installed on this host. Run: pilvi engines install",
  );
});
