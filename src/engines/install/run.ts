// Runs a program of the system and collects its output.
import { Refusal } from "../../lib/errors.ts";

/** How a program ended. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Long enough for the slowest download; a program that takes longer hangs. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Runs a command to its end, in English.
 * @throws Refusal when it fails because the disk is full.
 */
export async function run(command: string[], cwd: string): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0 && /No space left on device|enough free space/.test(stderr)) {
    throw new Refusal(`The disk that holds ${cwd} is full.`);
  }
  return { code, stdout, stderr };
}

/**
 * Runs a command that has no reason to fail.
 * @throws Error with the last line of its error output.
 */
export async function mustRun(command: string[], cwd: string): Promise<void> {
  const { code, stderr } = await run(command, cwd);
  if (code !== 0) throw new Error(`${command[0]} failed: ${stderr.trim().split("\n").at(-1) ?? code}`);
}
