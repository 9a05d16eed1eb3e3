// The ways in which a running cluster can lose its processes.
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { processesOf } from "../support/pilvi/databases.ts";
import { type ProcessName, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";

type Strike = (pilvi: TestPilvi, cluster: DatabaseClusterResource) => Promise<void>;

/** Each disaster kills, and ends when every process is back that was killed and that Pilvi restarts by itself. */
export const disasters: Record<string, Strike> = {
  "the engine's first process is killed": async (pilvi, { id }) => kill(processesOf(pilvi, id).slice(0, 1)),
  "one of its processes is killed": async (pilvi, { id }) => kill(processesOf(pilvi, id).slice(-1)),
  "all of its processes are killed": async (pilvi, { id }) => kill(processesOf(pilvi, id)),
  "the host is killed": (pilvi) => killPilvi(pilvi, ["host"]),
  "the control plane is killed": (pilvi) => killPilvi(pilvi, ["control"]),
  "everything is killed": async (pilvi, { id }) => {
    const pids = [pilvi.pidOf("control"), pilvi.pidOf("host"), ...processesOf(pilvi, id)];
    kill([pilvi.pid, ...pids.filter((pid) => pid !== undefined)]);
    await pilvi.stop("SIGKILL");
    await pilvi.start();
  },
};

/** Kills processes of Pilvi and waits until others have replaced them and the API answers. */
export async function killPilvi(pilvi: TestPilvi, names: ProcessName[]): Promise<void> {
  const killed = names.map((name) => pilvi.pidOf(name)).filter((pid) => pid !== undefined);
  kill(killed);
  await until("Pilvi is whole again", async () => {
    const pids = (["control", "gateway", "host"] as const).map((name) => pilvi.pidOf(name));
    if (pids.some((pid) => pid === undefined || killed.includes(pid))) return false;
    const answer = await fetch(`${pilvi.url}/readyz`).catch(() => null);
    return answer?.ok ?? false;
  });
}

/** Kills processes as the kernel does when it is out of memory. */
export function kill(pids: number[]): void {
  for (const pid of pids) killIfThere(pid);
}
