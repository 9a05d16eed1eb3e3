// A restore whose stream breaks off again and again: a fault of the backup, unless its archive has one just now.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ArchiveState, RestorePlan } from "../../contracts/keeper.ts";
import { RestoreFault } from "../../engines/backup.ts";
import { PublicError } from "../../lib/errors.ts";
import { KeeperUnreachable, type KeeperClient } from "./keeper-client.ts";
import { restorePlanned } from "./origin-builder.ts";
import type { DataBuild } from "./unpack.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-broken-off-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const log = { info() {}, warn() {}, error() {}, debug() {} };
const plan = {
  backup: { id: "one", completedAt: "2026-11-22T14:40:11Z", plainBytes: 1, format: "tar" },
  recovery: { kind: "immediate" },
  segments: [],
  totalBytes: 1,
} as unknown as RestorePlan;

/** The error of a restore whose streams break off, from an archive with a fault or without one. */
async function errorOf(lastError: string | null): Promise<unknown> {
  const keeper = {
    read: async () => await Promise.reject(new KeeperUnreachable(new Error("the stream broke off"))),
    archive: async () => ({ lastError }) as ArchiveState,
  } as Partial<KeeperClient> as KeeperClient;
  const build = {
    id: "cache-2",
    recipe: { unpack: () => ["/bin/cat"] },
    context: { account: null, limits: {}, installed: {} },
    folder: root,
    cgroups: null,
    isThrowAway: false,
    signal: new AbortController().signal,
    progress: () => undefined,
  } as unknown as DataBuild;
  const restoring = { archive: "cache-1", target: { backup: "one" }, plan };
  const parts = { keeper, plan: async () => plan, log: log as never };
  return await restorePlanned(parts, restoring, build).then(
    () => null,
    (error: unknown) => error,
  );
}

test("a stream that breaks off three times is a fault of the backup", async () => {
  expect(await errorOf(null)).toBeInstanceOf(RestoreFault);
});

test("while its archive has a fault of its own, it is tried again", async () => {
  const error = await errorOf("The backup target /backups has no space left.");
  expect(error).toBeInstanceOf(PublicError);
  expect(error).not.toBeInstanceOf(RestoreFault);
});
