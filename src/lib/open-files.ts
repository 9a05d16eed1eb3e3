// How many files and connections a process of this machine may have open.
import { readFileSync } from "node:fs";
import { codeOf } from "./errors.ts";
import { limitOpenFiles } from "./libc.ts";

/** Enough for a socket at every address that a host can have, and for its other files. */
export const OPEN_FILES = 65_536;

/** The public reason when this process, or the machine, can open no more files. */
export const TOO_MANY_FILES = "The host has as many files open as it may; raise its limit (LimitNOFILE).";

/** Whether an error of the system says that this process, or the machine, can open no more files. */
export function isOutOfFiles(error: unknown): boolean {
  return ["EMFILE", "ENFILE"].includes(codeOf(error) ?? "");
}

interface Limits {
  inForce: number;
  /** How far any process may raise its own limit. */
  highest: number;
}

function limits(): Limits {
  const line = /^Max open files\s+(\S+)\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  const [inForce, highest] = [line?.[1], line?.[2]].map((limit) =>
    limit === undefined || limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit),
  );
  return { inForce: inForce ?? Infinity, highest: highest ?? Infinity };
}

/** The limit of this process and its children; infinite when there is no limit. */
export function openFileLimit(): number {
  return limits().inForce;
}

/** Lets this process have `count` files open, or as many as it has the right to; a higher limit stays as it is. */
export function raiseOpenFileLimit(count: number): void {
  const { inForce, highest } = limits();
  if (inForce >= count || limitOpenFiles(count)) return;
  limitOpenFiles(highest);
}
