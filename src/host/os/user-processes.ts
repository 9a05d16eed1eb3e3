// Finds and kills the processes of a user of the machine, including processes that have left the cgroup and the lock of
// their instance.
import { readdirSync } from "node:fs";
import { canSwitchUsers, isInstanceUid } from "./accounts.ts";
import { orNull, ownerOf, textOf } from "./proc-files.ts";
import { signalProcess } from "./signals.ts";

/** Beyond this the caller has to try again later. */
const TIMEOUT_MS = 5_000;
const RETRY_MS = 5;
/** The index of the number of threads among the fields after the name. */
const THREADS_FIELD = 17;
/** A process of the user may stop the killer, which has the same user. */
const KILLER_TIMEOUT_MS = 1_000;

/** Kills all that the user may kill, itself excluded, and does so as that user alone: as root that would be everything. */
const KILLER = `
while read -r field real effective saved rest; do
  [ "$field" = Uid: ] && [ "$real $effective $saved" = "$1 $1 $1" ] || continue
  kill -s KILL -- -1
  exit 0
done 2>/dev/null </proc/self/status
exit 1
`;

/** The processes of a user that have not ended. */
export function processesOf(uid: number): number[] {
  return pids().filter((pid) => ownerOf(`/proc/${pid}`) === uid && isAlive(pid));
}

/** The users of all processes of the machine. */
export function usersWithProcesses(): Set<number> {
  return new Set(pids().flatMap((pid) => ownerOf(`/proc/${pid}`) ?? []));
}

/**
 * Kills all processes of a customer's user, and the processes that they start during the call.
 * @returns false when some are left after that time.
 * @throws for a user of whom others than a customer's processes may be.
 */
export async function killProcessesOf(uid: number, withinMs = TIMEOUT_MS): Promise<boolean> {
  if (!canSwitchUsers() || !isInstanceUid(uid)) throw new Error(`${uid} is no customer's user`);
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    for (const pid of processesOf(uid)) signalProcess(pid, "SIGKILL");
    // A list misses a process that goes on in ever new children. The kernel misses none, unless the killer was killed.
    const hasReachedAll = await killAs(uid);
    if (hasReachedAll && processesOf(uid).length === 0) return true;
    if (performance.now() >= giveUpAt) return false;
    await Bun.sleep(RETRY_MS);
  }
}

/** @returns false when the killer did not come to its end. */
async function killAs(uid: number): Promise<boolean> {
  const killer = Bun.spawn(["/bin/sh", "-c", KILLER, "sh", String(uid)], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "ignore", "ignore"],
    uid,
    gid: uid,
    timeout: KILLER_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  return (await killer.exited) === 0;
}

/** A process that has ended stays in the list until its parent has reaped it, with none but its first thread. */
function isAlive(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", threads] = [fields[0], Number(fields[THREADS_FIELD])];
  return !["", "Z", "X"].includes(state) || threads > 1;
}

function pids(): number[] {
  const names = orNull(() => readdirSync("/proc")) ?? [];
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}
