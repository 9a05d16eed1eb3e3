// A Pilvi under attack: instances that no attacker may wake, others whose clients must not notice, and the gateway's
// own figures.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { createCluster, MYSQL, POSTGRES, processesOf } from "../pilvi/databases.ts";
import { startPilvi, type StartOptions, type TestPilvi } from "../pilvi/pilvi.ts";
import { requestSuspend } from "../pilvi/suspends.ts";
import type { Protocol } from "./raw-client.ts";

type Resource = CacheResource | DatabaseClusterResource;

/** An instance behind the gateway. */
export interface Place {
  protocol: Protocol;
  id: string;
  port: number;
  password: string;
  /** The path of the resource in the API. */
  path: string;
}

/** The gateway's use of the machine. */
export interface Figures {
  pid: number;
  /** Its proportional set size: its private memory, and its share of shared memory. */
  pssKb: number;
  descriptors: number;
}

/** The processor time of a process so far, in milliseconds. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  // User and system time, in hundredths of a second (proc_pid_stat(5)).
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The share of a processor that a process takes during a second. */
export async function processorShare(pid: number): Promise<number> {
  const before = [processorMs(pid), performance.now()] as const;
  // Only time can show that nothing happens.
  await Bun.sleep(1_000);
  return (processorMs(pid) - before[0]) / (performance.now() - before[1]);
}

export function pssKb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}

export class HostileLoad {
  readonly pilvi: TestPilvi;
  /** The sleeping instances. */
  readonly targets: Place[];
  /** The running instances, which have clients. */
  readonly neighbours: Place[];

  private constructor(pilvi: TestPilvi, targets: Place[], neighbours: Place[]) {
    this.pilvi = pilvi;
    this.targets = targets;
    this.neighbours = neighbours;
  }

  static async begin(options: StartOptions = {}): Promise<HostileLoad> {
    const pilvi = await startPilvi(options);
    const targets = [await makePostgres(pilvi), await makeMysql(pilvi), await makeCache(pilvi)];
    const neighbours = [await makePostgres(pilvi), await makeCache(pilvi)];
    const hostileLoad = new HostileLoad(pilvi, targets, neighbours);
    for (const { path } of targets) await hostileLoad.suspend(path);
    return hostileLoad;
  }

  async end(): Promise<void> {
    await this.pilvi.close();
  }

  /** @throws when it stays awake. */
  async suspend(path: string): Promise<void> {
    const { status, body } = await requestSuspend(this.pilvi, path);
    if (status !== 200) throw new Error(`${path} stays awake: ${status} ${JSON.stringify(body)}`);
  }

  /** How often the targets were woken, and their processes. */
  async awake(): Promise<{ wakes: number; states: string[]; processes: number[] }> {
    const answers = this.targets.map(({ path }) => this.pilvi.api<{ data: Resource }>("GET", path));
    const sleeps = (await Promise.all(answers)).map(({ body }) => body.data.meta.sleep);
    return {
      wakes: sleeps.reduce((sum, sleep) => sum + (sleep?.wakes ?? 0), 0),
      states: sleeps.map((sleep) => sleep?.state ?? ""),
      processes: this.targets.flatMap(({ id }) => processesOf(this.pilvi, id)),
    };
  }

  gateway(): Figures {
    const pid = this.pilvi.runningPid("gateway");
    return { pid, pssKb: pssKb(pid), descriptors: readdirSync(`/proc/${pid}/fd`).length };
  }

  /** The gateway's use of the processor when it has nothing to do, from 0 to 1. */
  async idleShare(): Promise<number> {
    return await processorShare(this.gateway().pid);
  }

  /** The logs of all processes of Pilvi and of the engines. */
  logs(): string {
    const { dataDir } = this.pilvi;
    return readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".log"))
      .map((name) => readFileSync(join(dataDir, name), "utf8"))
      .join("");
  }
}

/** The sleeping instances that the tests need. */
export const ASLEEP = { wakes: 0, states: ["asleep", "asleep", "asleep"], processes: [] };

export async function makePostgres(pilvi: TestPilvi): Promise<Place> {
  return placeOf(await createCluster(pilvi, { type: POSTGRES }), "postgres");
}

export async function makeMysql(pilvi: TestPilvi): Promise<Place> {
  return placeOf(await createCluster(pilvi, { type: MYSQL }), "mysql");
}

export async function makeCache(pilvi: TestPilvi): Promise<Place> {
  return placeOf(await pilvi.createCache({ uses_hibernation: true, hibernation_timeout: 60 }), "redis");
}

function placeOf({ id, attributes: { connection } }: Resource, protocol: Protocol): Place {
  const path = protocol === "redis" ? `/caches/${id}` : `/databases/clusters/${id}`;
  return { protocol, id, path, port: connection.port, password: connection.password ?? "" };
}
