// What tests of the keeper share: folders as targets, a keeper over them, facts of a backup, streams of random bytes.
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BackupFacts } from "../contracts/keeper.ts";
import { Keeper, type KeeperOptions } from "./keeper.ts";
import { FolderTarget } from "./targets/folder.ts";

export const KEY = new Uint8Array(32).fill(7);

export const silentLog = { info() {}, warn() {}, error() {}, child: () => silentLog };

export const PART_BYTES = 64 * 1024;

/** A fresh folder for a test, with folders in it. */
export function freshFolder(...folders: string[]): string {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-keeper-"));
  for (const name of ["notes", ...folders]) mkdirSync(join(folder, name));
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A keeper over the folders `a`, `b` and so on of a test's folder, or over other targets. */
export function keeperIn(folder: string, names = ["a"], options: Partial<KeeperOptions> = {}): Keeper {
  return new Keeper({
    targets: names.map((name) => new FolderTarget(join(folder, name))),
    notesDir: join(folder, "notes"),
    key: KEY,
    bytesPerSecond: 0,
    log: silentLog,
    partBytes: PART_BYTES,
    ...options,
  });
}

export const facts: BackupFacts = {
  engine: { name: "valkey", major: "8", version: "8.0.1" },
  format: "tar",
  isHot: false,
  dataBytes: 1_000,
  users: ["app"],
  databases: [],
  startedAt: "2026-11-22T14:40:10.000001Z",
  completedAt: "2026-11-22T14:40:11.5Z",
  postgres: null,
};

/** Bytes that do not compress, the same for the same seed. */
export function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Bytes as a stream, in chunks of an odd size. */
export async function* streamOf(bytes: Uint8Array, chunkBytes = 10_007): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** All bytes of a stream. */
export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Stores a backup of these bytes. */
export async function storeBackup(keeper: Keeper, id: string, backup: string, bytes: Uint8Array) {
  await keeper.archives.store(id, backup, streamOf(bytes));
  return await keeper.archives.complete(id, backup, facts);
}
