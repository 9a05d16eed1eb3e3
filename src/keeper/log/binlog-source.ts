// What the log folder of a MariaDB has: when the log was begun, and its files.
import type { LogFolder } from "./log-folder.ts";

/** The host names an empty file after the second at which it made the folder, in 8 hexadecimal digits. */
const BEGUN = /^begun-([0-9A-F]{8})$/;
const FILE = /^binlog\.(\d{6,10})$/;

export interface BinlogSource {
  folder: LogFolder;
  timeline: number;
  /** The numbers of the files, in their order; the engine writes to the last. */
  files: number[];
  nameOf(file: number): string;
}

/** Lists the folder; null when no log was begun. */
export function binlogSourceOf(folder: LogFolder): BinlogSource | null {
  const names = folder.names();
  const begun = names.map((name) => BEGUN.exec(name)?.[1]).find((digits) => digits !== undefined);
  if (begun === undefined) return null;
  const known = new Map<number, string>();
  for (const name of names) {
    const number = FILE.exec(name)?.[1];
    if (number !== undefined) known.set(Number(number), name);
  }
  const files = [...known.keys()].sort((a, b) => a - b);
  return { folder, timeline: Number.parseInt(begun, 16), files, nameOf: (file) => known.get(file) ?? "" };
}
