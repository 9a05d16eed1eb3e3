// A power cut as far as a test can make one: every process of Pilvi and every engine is killed, and `pilvi up` started
// again.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { processesOf } from "../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";

/** Kills everything, the host before the engines, so that it restarts none of them. */
export async function cutPower(pilvi: TestPilvi): Promise<void> {
  const children = (["host", "gateway", "control"] as const).map((name) => pilvi.pidOf(name));
  for (const pid of [pilvi.pid, ...children]) killIfThere(pid);
  await pilvi.crash();
  await until("no engine is left", () => {
    const left = enginesOf(pilvi);
    for (const pid of left) killIfThere(pid);
    return left.length === 0;
  });
}

/** All processes of all engines. */
function enginesOf(pilvi: TestPilvi): number[] {
  const ids = readdirSync(join(pilvi.dataDir, "instances"));
  return ids.flatMap((id) => processesOf(pilvi, id).concat(pilvi.enginePids(id)));
}
