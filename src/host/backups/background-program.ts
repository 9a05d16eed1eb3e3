// Runs programs that copy or build an instance's data: as its user, in its cgroup, behind all else, and never longer
// than the host.
import { existsSync } from "node:fs";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../../engines/engine.ts";
import { CUSTOMER_OOM_SCORE, setOomScore, THROW_AWAY_OOM_SCORE } from "../../lib/oom-score.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { confine, yieldProcessor } from "../os/cgroup.ts";

/** Programs without which a command runs as well, each with its arguments. */
const PREFIXES = {
  /** The kernel kills the program when the host ends, however it ends. */
  bound: ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"],
  behind: ["/usr/bin/nice", "-n", "19"],
  behindOnDisk: ["/usr/bin/ionice", "-c", "3"],
};

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** The length of the end of what a program complains that the log gets. */
const MAX_COMPLAINT = 2_000;

/** An instance that programs run for. */
interface ProgramOwner {
  id: string;
  context: Pick<EngineContext<InstanceSpec>, "account" | "limits" | "installed">;
  cgroups: CgroupBackend | null;
  /** Whether they may be ended before all others, and take the processor only when nobody else does. */
  isThrowAway?: boolean;
}

/** How a program is run. */
interface ProgramOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Whether everything else on the machine comes first. */
  isBehind: boolean;
  stdin: "ignore" | "pipe";
  stdout: "ignore" | "pipe";
}

/** A program that runs in the background, with its children in a group of their own. */
export interface BackgroundProgram {
  pid: number;
  stdin: Bun.FileSink | undefined;
  stdout: ReadableStream<Uint8Array> | undefined;
  stderr: ReadableStream<Uint8Array>;
  /** The exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  /** Sends a signal to it; SIGKILL goes to its children as well. */
  kill(signal: NodeJS.Signals): void;
}

/** Starts a program for an instance. */
export function runInBackground(
  { id, context, cgroups, isThrowAway = false }: ProgramOwner,
  argv: string[],
  { cwd, env, isBehind, stdin, stdout }: ProgramOptions,
): BackgroundProgram {
  const { account, limits, installed } = context;
  const child = Bun.spawn([...prefixOf(isBehind, isThrowAway), ...argv], {
    cwd,
    env: { PATH, ...installed.env, ...env, TZ: "UTC" },
    stdio: [stdin, stdout, "pipe"],
    detached: true,
    ...account,
  });
  setOomScore(child.pid, isThrowAway ? THROW_AWAY_OOM_SCORE : CUSTOMER_OOM_SCORE);
  confine(cgroups, id, [child.pid], limits);
  if (isThrowAway) yieldProcessor(cgroups, id, limits);
  return {
    pid: child.pid,
    stdin: child.stdin ?? undefined,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr,
    exited: child.exited.then(() => child.exitCode),
    kill: (signal) => sendSignal(signal === "SIGKILL" ? -child.pid : child.pid, signal),
  };
}

/** Reads all that a program complains of, and keeps the end. */
export async function complaintOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let end = "";
  for await (const chunk of stderr)
    end = (end + decoder.decode(chunk, { stream: true })).slice(-MAX_COMPLAINT);
  return end;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * On a disk that is in use, the idle class of ionice doubles the time of a copy, and clients' writes are not faster for
 * it. A copy of a running engine keeps that awake, so only work for which nobody waits is of that class.
 */
function prefixOf(isBehind: boolean, isThrowAway: boolean): string[] {
  const { bound, behind, behindOnDisk } = PREFIXES;
  const prefixes = [bound, ...(isBehind ? [behind] : []), ...(isBehind && isThrowAway ? [behindOnDisk] : [])];
  return prefixes.flatMap((prefix) => (existsSync(prefix[0] ?? "") ? prefix : []));
}
