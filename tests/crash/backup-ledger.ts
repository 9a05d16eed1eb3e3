// Writers whose log is kept, while processes are killed at random; instants of it are restored afterwards and compared with
// the ledger of what was acknowledged by then.
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  createCluster,
  deleteCluster,
  MYSQL,
  POSTGRES,
  processesOf,
  untilCluster,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { Ledger, type LedgerMark } from "./ledger.ts";
import { randomOf } from "./random.ts";

const TARGETS = ["engine", "engine", "host", "keeper", "control", "gateway", "both", "all"] as const;
const LONGEST_PAUSE_MS = 800;
/** On a busy machine, several processes that were killed at once are back late. */
const PATIENCE_MS = 300_000;

const KINDS = [
  { type: POSTGRES, config: { retention_days: 1, suspend_seconds: 0 }, grainMs: 1 },
  { type: MYSQL, config: { uses_scheduled_snapshots: true, retention_days: 1 }, grainMs: 1_000 },
];

export interface BackupLedgerOptions {
  seed: number;
  /** The number of kills. */
  kills: number;
  /** So many instants of each cluster are restored, beside the latest. */
  instants: number;
}

/** A restored instant beside the ledger. */
export interface RestoredInstant extends LedgerMark {
  type: string;
  lost: number[];
  invented: number[];
}

interface Writing {
  ledger: Ledger;
  type: string;
  grainMs: number;
  marks: LedgerMark[];
}

export class BackupLedger {
  readonly #pilvi: TestPilvi;
  readonly #options: BackupLedgerOptions;
  readonly #random: () => number;
  readonly #writings: Writing[] = [];
  readonly killed: Record<string, number> = {};

  constructor(pilvi: TestPilvi, options: BackupLedgerOptions) {
    this.#pilvi = pilvi;
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  /** Runs until all kills are done, and restores the instants. @throws when a cluster itself lost what it acknowledged. */
  async run(): Promise<RestoredInstant[]> {
    const { kills, instants } = this.#options;
    for (const { type, config, grainMs } of KINDS) {
      const cluster = await createCluster(this.#pilvi, { name: type.replaceAll("_", "-"), type, config });
      await this.#untilWindow(cluster.id);
      this.#writings.push({ ledger: await Ledger.begin(cluster), type, grainMs, marks: [] });
    }
    for (let kill = 0; kill < kills; kill += 1) {
      await this.#kill();
      if (kill % Math.max(1, Math.floor(kills / instants)) === 0) await this.#mark();
    }
    await this.#pilvi.untilReady(PATIENCE_MS);
    for (const { ledger } of this.#writings) await ledger.advance(5, PATIENCE_MS);
    await this.#mark();
    for (const { ledger } of this.#writings) {
      await ledger.stop();
      await ledger.check();
    }
    const restored: RestoredInstant[] = [];
    for (const writing of this.#writings) restored.push(...(await this.#restoreAll(writing)));
    return restored;
  }

  async #kill(): Promise<void> {
    await Bun.sleep(this.#random() * LONGEST_PAUSE_MS);
    const target = TARGETS[Math.floor(this.#random() * TARGETS.length)] ?? "host";
    const victim = this.#writings[Math.floor(this.#random() * this.#writings.length)];
    this.killed[target] = (this.killed[target] ?? 0) + 1;
    if (target === "both") this.#pilvi.kill("host", "keeper");
    else if (target === "all") this.#pilvi.kill("host", "keeper", "gateway", "control");
    else if (target !== "engine") this.#pilvi.kill(target);
    if ((target === "engine" || target === "all") && victim !== undefined)
      for (const pid of processesOf(this.#pilvi, victim.ledger.resource.id)) killIfThere(pid);
    // Half of the time the next kill comes before Pilvi has recovered from this kill.
    if (this.#random() < 0.5) return;
    await this.#pilvi.untilReady(PATIENCE_MS);
    for (const { ledger } of this.#writings) await ledger.advance(1, PATIENCE_MS);
  }

  async #mark(): Promise<void> {
    await Promise.all(
      this.#writings.map(async ({ ledger, grainMs, marks }) => marks.push(await ledger.mark(grainMs))),
    );
  }

  /** The latest instant, and some others. */
  async #restoreAll({ ledger, type, marks }: Writing): Promise<RestoredInstant[]> {
    const { id } = ledger.resource;
    const latest = marks.at(-1)?.at ?? "";
    await until(
      `the log of ${id} is shipped`,
      async () => ((await this.#read(id))?.meta.backup?.latest_restore_time ?? "") >= latest,
      PATIENCE_MS,
    );
    const restored: RestoredInstant[] = [];
    for (const mark of marks.slice(-1 - this.#options.instants)) {
      const copy = await this.#restore(id, mark.at);
      restored.push({ ...mark, type, ...(await ledger.compare(copy, mark)) });
      await deleteCluster(this.#pilvi, copy.id);
    }
    return restored;
  }

  async #restore(id: string, at: string): Promise<DatabaseClusterResource> {
    const order = { name: "restored", restore_time: at };
    const path = `/databases/clusters/${id}/restore`;
    const { status, body } = await this.#pilvi.api<ClusterDocument>("POST", path, order);
    if (status !== 201) throw new Error(`no restore of ${id} to ${at}: ${status} ${JSON.stringify(body)}`);
    return await untilCluster(this.#pilvi, body.data.id, "available", {}, PATIENCE_MS);
  }

  async #untilWindow(id: string): Promise<void> {
    await until(`the window of ${id} begins`, async () => {
      const { supports_pitr: isOn, earliest_restore_time: earliest } =
        (await this.#read(id))?.attributes ?? {};
      return isOn === "true" && Date.parse(earliest ?? "") <= Date.now();
    });
  }

  async #read(id: string): Promise<DatabaseClusterResource | null> {
    const answer = await this.#pilvi
      .api<ClusterDocument>("GET", `/databases/clusters/${id}`)
      .catch(() => null);
    return answer?.status === 200 ? answer.body.data : null;
  }
}
