// Runs the program as a user does, for tests of its output and its end.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const MAIN = resolve(import.meta.dir, "../../../src/main.ts");

/** Whether Pilvi can give processes users of their own here. */
export const IS_ROOT = process.getuid?.() === 0;

/** The end of a run of the program. */
export interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

/** Starts the program; it inherits no other environment. */
export function spawnPilvi(args: string[], env: Record<string, string>) {
  return Bun.spawn([process.execPath, MAIN, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs the program to its end. */
export async function runPilvi(args: string[], env: Record<string, string>): Promise<Ending> {
  return await endOf(spawnPilvi(args, env));
}

/** Runs a system command to its end, for example under another user. */
export async function runCommand(command: string[]): Promise<Ending> {
  return await endOf(Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] }));
}

/** A file of /proc about a process, as text; NUL bytes become line breaks. */
export function procText(pid: number, file: "cmdline" | "environ" | "status"): string {
  return readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", "\n");
}

async function endOf(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Ending> {
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

/** The pids of the processes whose command line names the folder. */
export function processesAt(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandOf(Number(name)).includes(folder))
    .map(Number);
}

/** Empty for a process that has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return procText(pid, "cmdline");
  } catch {
    return "";
  }
}
