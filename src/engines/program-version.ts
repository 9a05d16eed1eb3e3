// Asks a server program which engine it is, and of which version.
import { basename } from "node:path";
import { foreignEngines } from "../contracts/engine-names.ts";
import type { ForeignEngine } from "../contracts/engine-names.ts";
import { programOf } from "./registry.ts";

/** What a program says of itself. */
interface ProgramVersion {
  name: ForeignEngine;
  /** For example "8.0.1" or "18.4". */
  version: string;
}

const ANSWER_TIMEOUT_MS = 10_000;

/** Asks the command for its version with nothing but `env`; undefined when it does not run or is no engine. */
export async function askVersion(
  command: string[],
  env: Record<string, string>,
): Promise<ProgramVersion | undefined> {
  try {
    const child = Bun.spawn([...command, questionOf(command.at(-1) ?? "")], {
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

/** The option that has a program say its version, by the name of its file. */
function questionOf(path: string): string {
  const named = foreignEngines.map(programOf).find(({ names }) => names.includes(basename(path)));
  return named?.versionOption ?? "--version";
}

/** Reads the answer to that question. */
export function parseVersion(answer: string): ProgramVersion | undefined {
  for (const name of foreignEngines) {
    const version = programOf(name).version.exec(answer)?.[1];
    if (version !== undefined) return { name, version };
  }
  return undefined;
}
