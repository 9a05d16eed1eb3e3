// Origins that cannot be restored: bytes that no program unpacks, and what a later host knows of the failure.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { BackupFacts } from "../../contracts/keeper.ts";
import { newId } from "../../lib/ids.ts";
import { sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
beforeAll(() => stage.start(), 60_000);
afterAll(() => stage.close());

/** Bytes that neither program takes for a stream of its own. */
async function* garbage(): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < 40; part += 1) yield new Uint8Array(50_000).fill(65 + part);
}

/** Stores bytes that the keeper cannot know to be no backup. */
async function storeGarbage(archive: string, format: BackupFacts["format"]): Promise<string> {
  const backup = newId("snapshot");
  const { engine } = (await stage.driver.archive(archive)) ?? {};
  const { plainBytes } = await stage.keeper.store(archive, backup, garbage(), stage.signal);
  const at = new Date().toISOString();
  if (!engine) throw new Error("the archive is not announced");
  const known = { engine, format, isHot: false, dataBytes: plainBytes, users: [], databases: [] };
  await stage.keeper.complete(archive, backup, { ...known, startedAt: at, completedAt: at, postgres: null });
  return backup;
}

function copyOf(spec: InstanceSpec, backup: string): InstanceSpec {
  const exposure = { ...spec.exposure, port: freePort() };
  const id = newId(spec.kind === "cache" ? "cache" : "db");
  return { ...spec, id, exposure, origin: { archive: spec.id, backup } } as InstanceSpec;
}

describe.each([
  ["cache", "tar"],
  ["mysql", "mbstream"],
] as const)("a %s", (kind, format) => {
  const spec = sleepySpec(kind);
  const failed = {
    state: "failed",
    restoreFailed: true,
    lastError: expect.stringMatching(/^The backup of 2\S+Z is damaged: its data cannot be unpacked\.$/),
  };

  test(`whose ${format} cannot be unpacked is a failed restore, which the next host knows`, async () => {
    await stage.driver.ensure(spec);
    await stage.backUp(spec.id);
    const copy = copyOf(spec, await storeGarbage(spec.id, format));
    expect(await stage.driver.ensure(copy)).toMatchObject(failed);
    await stage.startHost();
    expect(await stage.driver.observe(copy.id)).toMatchObject(failed);
    expect(await stage.driver.ensure(copy)).toMatchObject(failed);
    expect(existsSync(join(stage.folderOf(copy.id), "data", "ibdata1"))).toBe(false);
    await stage.driver.remove(copy.id);
    expect(existsSync(stage.folderOf(copy.id))).toBe(false);
  });
});
