// One command of a build: started in the sandbox only after its group has its limits, and killed with all that it began.
import { closeSync } from "node:fs";
import type { Account } from "../../engines/engine.ts";
import { AWAIT_GO, GO } from "../../engines/sandbox/gate.ts";
import { CUSTOMER_OOM_SCORE, setOomScore } from "../../lib/oom-score.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import type { CgroupBackend, GroupLimits } from "../os/cgroup-backends.ts";
import { confineStartedTo, killGroup } from "../os/cgroup.ts";
import { exitOf } from "../os/exit-watch.ts";
import { holdersOf, takeLock } from "../os/locks.ts";
import { canLimitProcesses } from "../os/process-limit.ts";
import type { StepOutput } from "./build-log.ts";

/** Builds take the processor when engines and applications leave it. */
const BUILD_WEIGHT = 0.2;

/** Waits for a line before it becomes the command, so that nothing of a customer runs without limits. */
const gate = (input: string) => ["/bin/sh", "-c", `${AWAIT_GO}; umask 022; exec "$@" <${input}`, "sh"];

/** How long the output of a step is read after all its processes have ended. */
const LAST_OUTPUT_MS = 1_000;

/** The kernel's limits of one process, where groups have none. */
const PRLIMIT = "/usr/bin/prlimit";

/** A pipe of a step. */
interface OutputReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

/** A terminal in which a step runs. */
export interface StepTerminal {
  /** The descriptor for the step. */
  slave: number;
  /** The step has that. */
  started(): void;
  /** The step has ended by itself or was killed, so nothing can cut it off any more. */
  exited(): void;
  /** Resolves when the client has the last output, or takes no more of it. */
  drained(): Promise<void>;
}

/** How a step runs. */
export interface StepOptions {
  command: string[];
  env: Record<string, string>;
  account: Account | null;
  cgroups: CgroupBackend | null;
  /** The name of the group of the build. */
  group: string;
  limits: GroupLimits;
  /** The size that no file of it may exceed. */
  maxFileBytes: number;
  lock: string;
  output: StepOutput;
  /** Its input and output; null for no input, and the output as it is kept. */
  terminal: StepTerminal | null;
}

/** Runs a step to its end or until the signal. @returns the exit code; null when it was killed. */
export async function runStep(options: StepOptions, signal: AbortSignal): Promise<number | null> {
  const { command, env, account, cgroups, group, limits, terminal } = options;
  const lockFd = takeLock(options.lock);
  if (lockFd === null) throw new Error(`a process still holds ${options.lock}`);
  const input = terminal === null ? "/dev/null" : "&1";
  const child = Bun.spawn([...limitPrefix(options), ...gate(input), ...command], {
    cwd: "/",
    env,
    detached: true,
    stdio: ["pipe", terminal?.slave ?? "pipe", terminal?.slave ?? "pipe", lockFd],
    ...account,
  });
  closeSync(lockFd);
  terminal?.started();
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  try {
    if (cgroups !== null) await confineStartedTo(cgroups, group, child.pid, limits, BUILD_WEIGHT);
    setOomScore(child.pid, CUSTOMER_OOM_SCORE);
    if (signal.aborted) kill();
    else await child.stdin.write(`${GO}\n`);
    await child.stdin.end();
    const endOfOutput = takeOutput(child, options, signal);
    const code = await child.exited;
    terminal?.exited();
    // What a step leaves running, and what would keep its output open, ends with the step.
    await killRest(options);
    await endOfOutput();
    return signal.aborted || child.signalCode !== null ? null : code;
  } finally {
    signal.removeEventListener("abort", kill);
    await killRest(options);
  }
}

/** Takes all output as it comes. @returns a function that ends that, once the last output is there. */
function takeOutput(
  { stdout, stderr }: Bun.Subprocess,
  { output, terminal }: StepOptions,
  signal: AbortSignal,
): () => Promise<void> {
  if (terminal !== null)
    return async () => await unlessAborted(terminal.drained(), signal).catch(() => undefined);
  const readers = [stdout, stderr].flatMap((each) =>
    each instanceof ReadableStream ? [each.getReader()] : [],
  );
  const outputs = readers.map((reader) => drain(reader, output.stream()));
  return async () => {
    // A step may have passed its output on to a process of another group.
    await Promise.race([Promise.all(outputs), Bun.sleep(LAST_OUTPUT_MS)]);
    for (const reader of readers) void reader.cancel().catch(() => undefined);
    output.end();
  };
}

/** Kills what is left of a build, also of a build of an earlier host. */
export async function killRest({
  cgroups,
  group,
  lock,
}: Pick<StepOptions, "cgroups" | "group" | "lock">): Promise<void> {
  await killGroup(cgroups, group);
  const holders = holdersOf(lock);
  const exits = holders.map((pid) => exitOf(pid));
  for (const pid of holders) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  await Promise.all(exits);
}

function limitPrefix({ maxFileBytes, cgroups, account, limits }: StepOptions): string[] {
  if (!canLimitProcesses()) return [];
  const ofGroup =
    cgroups !== null
      ? []
      : [
          `--data=${limits.memoryBytes}`,
          ...(account === null || limits.maxProcesses === null ? [] : [`--nproc=${limits.maxProcesses}`]),
        ];
  return [PRLIMIT, `--fsize=${maxFileBytes}`, "--core=0", ...ofGroup];
}

async function drain(reader: OutputReader, take: (bytes: Uint8Array) => void): Promise<void> {
  try {
    for (let part = await reader.read(); part.value !== undefined; part = await reader.read())
      take(part.value);
  } catch {
    // A killed process takes its pipe along.
  }
}
