// Programs of the machine that tests run as a customer would.
import { dirname, join } from "node:path";
import { loadConfig } from "../../../src/config.ts";

/** The folder of programs that the machine lacks, filled by `install-programs.ts`. */
export const PROGRAMS_HOME = join(dirname(loadConfig(process.env).enginesDir), "test-programs");

/** The path of PHP when the machine lacks it or an extension, and when it could be installed. */
export const PHP_HOME = join(dirname(loadConfig(process.env).enginesDir), "test-php");

/** The extensions that databases and caches need, each after its own dependencies. */
export const PHP_EXTENSIONS = ["pdo", "pdo_pgsql", "mysqlnd", "pdo_mysql", "igbinary", "redis"];

/** A PHP that has all of the extensions; null where there is none. */
export function phpProgram(): string | null {
  const programs = [Bun.which("php"), Bun.which("php", { PATH: join(PHP_HOME, "bin") })];
  return programs.find((program) => program !== null && knowsExtensions(program)) ?? null;
}

function knowsExtensions(php: string): boolean {
  const known = Bun.spawnSync([php, "-m"]).stdout.toString().toLowerCase().split("\n");
  return PHP_EXTENSIONS.every((name) => known.includes(name));
}

/** Runs a program to its end and returns its output. @throws with its error output when it fails. */
export async function runProgram(command: string[], env: Record<string, string> = {}): Promise<string> {
  return (await finish(command, env)).printed;
}

/**
 * Runs a program to its end, with a file as its input if there is any, and returns its warnings.
 * @throws with its error output when it fails.
 */
export async function complaintsOf(
  command: string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<string> {
  return (await finish(command, env, input)).complained;
}

async function finish(command: string[], env: Record<string, string>, input?: string) {
  const path = `${process.env.PATH}:${join(PROGRAMS_HOME, "bin")}`;
  const child = Bun.spawn(command, {
    env: { PATH: path, LC_ALL: "C.UTF-8", ...env },
    stdio: [input === undefined ? "ignore" : Bun.file(input), "pipe", "pipe"],
  });
  const [printed, complained] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  // A client that fails may repeat the whole statement.
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${complained.slice(-2000)}`);
  return { printed, complained };
}
