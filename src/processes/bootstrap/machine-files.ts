// The files of the data directory that a lost machine must not take along: kept in the store, sealed with the key.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readIfPresent, replaceFile, syncFile } from "../../lib/files.ts";
import type { Vault } from "../../lib/secrets.ts";
import type { Database } from "../../store/database.ts";

/** The authority that clients verify the gateway with, key first, and the token of the command line; with their modes. */
const KEPT = { "tls/ca.key": 0o600, "tls/ca.crt": 0o644, token: 0o600 } as const;

type KeptPath = keyof typeof KEPT;

/** The contents by path. */
export type MachineFiles = Partial<Record<KeptPath, string>>;

const PATHS = Object.keys(KEPT) as KeptPath[];

/** The files that are there. */
export function readMachineFiles(dataDir: string): MachineFiles {
  const found = PATHS.map((path) => [path, readIfPresent(join(dataDir, path))] as const);
  return Object.fromEntries(found.filter(([, content]) => content !== null));
}

/** Keeps the files of a host in the store; a file that is there unchanged is not written again. */
export async function keepMachineFiles(
  db: Database,
  vault: Vault,
  hostId: string,
  files: MachineFiles,
): Promise<void> {
  const known = await machineFilesOf(db, vault, hostId);
  for (const path of PATHS) {
    const content = files[path];
    if (content === undefined || content === known[path]) continue;
    await db`
      insert into machine_files (host_id, path, sealed) values (${hostId}, ${path}, ${vault.seal(content, path)})
      on conflict (host_id, path) do update set sealed = excluded.sealed`;
  }
}

/** The files of a host that the store keeps. */
export async function machineFilesOf(db: Database, vault: Vault, hostId: string): Promise<MachineFiles> {
  const rows = await db<{ path: KeptPath; sealed: string }[]>`
    select path, sealed from machine_files where host_id = ${hostId}`;
  return Object.fromEntries(
    rows.filter(({ path }) => path in KEPT).map(({ path, sealed }) => [path, vault.open(sealed, path)]),
  );
}

/** Writes files into the data directory, in place of those that are there. */
export async function writeMachineFiles(dataDir: string, files: MachineFiles): Promise<void> {
  for (const path of PATHS) {
    const content = files[path];
    if (content === undefined) continue;
    mkdirSync(dirname(join(dataDir, path)), { recursive: true, mode: 0o755 });
    replaceFile(join(dataDir, path), content, KEPT[path]);
    await syncFile(join(dataDir, path));
  }
}
