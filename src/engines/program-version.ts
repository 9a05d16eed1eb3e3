// Tells which engine a server program is and of which version, by asking the program itself.
import type { ForeignEngine } from "../drivers/driver.ts";

/** What a program says of itself. */
export interface ProgramVersion {
  name: ForeignEngine;
  /** For example "8.0.1" or "18.4". */
  version: string;
}

const ANSWER_TIMEOUT_MS = 10_000;

/** The words of each engine's `--version`. MariaDB comes before MySQL, because its `mysqld` calls itself by both names. */
const PATTERNS: [ForeignEngine, RegExp][] = [
  ["valkey", /^Valkey server v=(\d+(?:\.\d+)+)/],
  ["redis", /^Redis server v=(\d+(?:\.\d+)+)/],
  ["postgres", /^postgres \(PostgreSQL\) (\d+(?:\.\d+)*)/],
  ["mariadb", /Ver (\d+(?:\.\d+)+)-MariaDB/],
  ["mysql", /Ver (\d+(?:\.\d+)+)/],
];

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
  for (const [name, pattern] of PATTERNS) {
    const version = pattern.exec(answer)?.[1];
    if (version !== undefined) return { name, version };
  }
  return undefined;
}

/** Orders versions by their numbers: negative when `a` is the older one. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (let place = 0; place < Math.max(left?.length ?? 0, right?.length ?? 0); place += 1) {
    const difference = (left?.[place] ?? 0) - (right?.[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
