// A tree that is no folder any more when it is to become a release.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BuildSpec } from "../../contracts/builds.ts";
import { silentLog } from "../../keeper/test-support.ts";
import type { Log } from "../../lib/log.ts";
import { buildFolder, publishRelease } from "./build-folder.ts";

let dataDir: string;

beforeEach(() => (dataDir = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-release-"))));

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("a link in the place of the tree becomes no release", async () => {
  const folder = buildFolder(dataDir, "build-1");
  mkdirSync(folder.work, { recursive: true });
  const other = join(dataDir, "other");
  mkdirSync(other);
  writeFileSync(join(other, "file"), "of another environment");
  symlinkSync(other, folder.app);
  const spec = { id: "build-1", environment: "environment-1", runtime: null } as unknown as BuildSpec;
  const log = silentLog as unknown as Log;
  const published = publishRelease({ dataDir, log }, folder, spec, { account: null, bytes: 0 });
  await expect(published).rejects.toThrow("something else in the place of its files");
  expect(existsSync(join(dataDir, "releases", "build-1"))).toBe(false);
  expect(existsSync(join(other, "file"))).toBe(true);
});
