// Asks a server program which engine it is, and of which version.
import { foreignEngines } from "../contracts/engine-names.ts";
import type { ForeignEngine } from "../contracts/engine-names.ts";
import { programOf } from "./registry.ts";

/** The answer of a program to `--version`. */
export interface ProgramVersion {
  name: ForeignEngine;
  /** For example "8.0.1" or "18.4". */
  version: string;
}

const ANSWER_TIMEOUT_MS = 10_000;

/** Runs the command with `--version` and nothing but `env`; undefined when it does not run or is no engine. */
export async function askVersion(
  command: string[],
  env: Record<string, string>,
): Promise<ProgramVersion | undefined> {
  try {
    const child = Bun.spawn([...command, "--version"], {
      env,
      cwd: "/",
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: ANSWER_TIMEOUT_MS,
    });
    const [answer, code] = await Promise.all([child.stdout.text(), child.exited]);
    return code === 0 ? parseVersion(answer) : undefined;
  } catch {
    // A file that cannot be executed is not an engine.
    return undefined;
  }
}

/** Reads the answer to `--version`. */
export function parseVersion(answer: string): ProgramVersion | undefined {
  for (const name of foreignEngines) {
    const version = programOf(name).version.exec(answer)?.[1];
    if (version !== undefined) return { name, version };
  }
  return undefined;
}
