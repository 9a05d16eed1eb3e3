// Python for applications: that of the machine, whose packages keep it safe. An application has its own packages.
import { PublicError } from "../../lib/errors.ts";

/** Programs that the sandbox sees, in the order in which it searches them. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Prints the version and the program; fails where the modules for environments of packages are not installed. */
const PROBE = "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])), sys.executable)";

const PROBE_TIMEOUT_MS = 10_000;

/** How long an answer is taken for true; packages of the machine come and go. */
const REMEMBERED_MS = 60_000;

/** A Python of the machine. */
export interface Python {
  version: string;
  program: string;
}

let known: { python: Promise<Python | null>; untilMs: number } | null = null;

/** The machine's Python; null where it is missing, or cannot make environments of packages. */
export function findPython(): Promise<Python | null> {
  if (known === null || performance.now() > known.untilMs)
    known = { python: probe(), untilMs: performance.now() + REMEMBERED_MS };
  return known.python;
}

/** @throws PublicError where the machine has no such Python. */
export async function systemPython(): Promise<Python> {
  const python = await findPython();
  if (python !== null) return python;
  throw new PublicError("This host has no Python 3 with venv; its operator can install python3-venv.");
}

async function probe(): Promise<Python | null> {
  try {
    const child = Bun.spawn(["/usr/bin/env", "python3", "-c", PROBE], {
      cwd: "/",
      env: { PATH: SYSTEM_PATH },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PROBE_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    const [, version, program] = /^(3\.\d+\.\d+) (\/\S+)$/.exec(text.trim()) ?? [];
    return code === 0 && version !== undefined && program !== undefined ? { version, program } : null;
  } catch {
    // There is no program to find it with.
    return null;
  }
}
