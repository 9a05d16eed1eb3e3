// The programs that copy the data of a Postgres, and the program that unpacks the copy.
import { join } from "node:path";
import type { CopyCommand } from "../../backup.ts";

const TAR = "/usr/bin/tar";

/** A file changed while it was read, which the replay of the log repairs. */
const FILE_CHANGED = 1;

/** Content that a start makes anew, or that would keep a copy from starting; the folders themselves are copied. */
export const NOT_COPIED = [
  "pg_replslot/*",
  "pg_dynshmem/*",
  "pg_notify/*",
  "pg_serial/*",
  "pg_snapshots/*",
  "pg_stat_tmp/*",
  "pg_subtrans/*",
  "postmaster.pid",
  "postmaster.opts",
  "backup_label*",
  "tablespace_map*",
  "recovery.signal",
  "standby.signal",
  "**/pgsql_tmp*",
  "**/pg_internal.init*",
];

/** Copies the data without its log. */
export function copyOfData(dataDir: string): CopyCommand {
  return {
    argv: [
      TAR,
      "--create",
      `--directory=${dataDir}`,
      "--warning=no-file-changed",
      "--warning=no-file-removed",
      "--exclude=./pg_wal/*",
      // A pattern of tar without a folder fits in any folder.
      ...NOT_COPIED.map(
        (pattern) => `--exclude=${pattern.startsWith("**/") ? pattern.slice(3) : `./${pattern}`}`,
      ),
      ".",
    ],
    okExitCodes: [0, FILE_CHANGED],
  };
}

/** Copies segments of the log. @param names of segments that the engine keeps until the copy is done. */
export function copyOfLog(dataDir: string, names: string[]): CopyCommand {
  const files = names.map((name) => join("pg_wal", name));
  return {
    argv: [TAR, "--create", `--directory=${dataDir}`, "--warning=no-file-changed", "--", ...files],
    okExitCodes: [0, FILE_CHANGED],
  };
}

/** Each program ends its output as an archive ends, so the zeros between them are passed over. */
export function unpackCommand(dataDir: string): string[] {
  return [TAR, "--extract", "--ignore-zeros", `--directory=${dataDir}`];
}
