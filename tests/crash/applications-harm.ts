// Kills and freezes of processes of a Pilvi that serves applications, at random moments, also of two at once.
import { readdirSync, readFileSync } from "node:fs";
import { processesOf } from "../support/pilvi/databases.ts";
import type { TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";

type Target = "control" | "host" | "gateway" | "keeper" | "edge" | "store" | "application" | "engine" | "up";

const TARGETS: readonly (readonly Target[])[] = [
  ["control"],
  ["host"],
  ["host"],
  ["gateway"],
  ["edge"],
  ["keeper"],
  ["store"],
  ["application"],
  ["engine"],
  ["up"],
  ["host", "control"],
  ["host", "edge"],
  ["host", "gateway"],
  ["host", "application"],
  ["host", "engine"],
  ["control", "edge"],
  ["edge", "gateway"],
  ["control", "store"],
];

const LONGEST_PAUSE_MS = 2_500;
/** A freeze is now and then three times as long. */
const LONGEST_FREEZE_MS = 8_000;
/** For so long after a kill or freeze requests may fail or be slow. */
const NOISE_MS = 20_000;

interface HarmParts {
  random(): number;
  note(text: string): void;
  /** The ids of the databases and caches. */
  engines(): string[];
}

export class ApplicationsHarm {
  readonly #pilvi: TestPilvi;
  readonly #parts: HarmParts;
  noisyUntilMs = 0;
  strikes = 0;

  constructor(pilvi: TestPilvi, parts: HarmParts) {
    this.#pilvi = pilvi;
    this.#parts = parts;
  }

  /** Kills or freezes processes after a while. */
  async strike(): Promise<void> {
    await Bun.sleep(this.#parts.random() * LONGEST_PAUSE_MS);
    const targets = this.#pick(TARGETS) ?? ["host"];
    this.strikes += 1;
    const isFreeze = this.#parts.random() < 0.4;
    this.noisyUntilMs = Infinity;
    const pids = targets.flatMap((target) => this.#pidsOf(target));
    if (targets.includes("up") && !isFreeze) await this.#restart();
    else if (isFreeze) await this.#freeze(targets, pids);
    else {
      this.#parts.note(`kill ${targets.join(" ")} ${pids.join(" ")}`);
      for (const pid of pids) signal(pid, "SIGKILL");
    }
    this.noisyUntilMs = performance.now() + NOISE_MS;
    // Mostly the next strike comes before Pilvi has recovered from this strike.
    if (this.#parts.random() < 0.4) await this.#pilvi.untilReady();
  }

  async #restart(): Promise<void> {
    const how = this.#parts.random() < 0.5 ? "SIGKILL" : "SIGTERM";
    this.#parts.note(`restart by ${how}`);
    await this.#pilvi.stop(how);
    await this.#pilvi.start();
  }

  async #freeze(targets: readonly Target[], pids: number[]): Promise<void> {
    const ms = this.#parts.random() * LONGEST_FREEZE_MS * (this.#parts.random() < 0.15 ? 3 : 1);
    this.#parts.note(`freeze ${targets.join(" ")} ${pids.join(" ")} for ${Math.round(ms)} ms`);
    for (const pid of pids) signal(pid, "SIGSTOP");
    await Bun.sleep(ms);
    for (const pid of pids) signal(pid, "SIGCONT");
  }

  #pidsOf(target: Target): number[] {
    switch (target) {
      case "up":
        return [this.#pilvi.pid];
      case "edge":
      case "store":
        return processesOf(this.#pilvi, target);
      case "engine":
        return processesOf(this.#pilvi, this.#pick(this.#parts.engines()) ?? "");
      case "application": {
        const ids = this.#pilvi.instanceFolders().filter((name) => name.startsWith("proc-"));
        return processesOf(this.#pilvi, this.#pick(ids) ?? "");
      }
      default: {
        const pid = this.#pilvi.pidOf(target);
        return pid === undefined ? [] : [pid];
      }
    }
  }

  /** The memory and the open files of Pilvi's processes. */
  sizes(): string {
    const names = ["host", "control", "gateway", "keeper"] as const;
    const pids = [
      ["up", this.#pilvi.pid] as const,
      ...names.map((name) => [name, this.#pilvi.pidOf(name)] as const),
    ];
    return pids
      .map(([name, pid]) => {
        if (pid === undefined || !isAlive(pid)) return `${name} gone`;
        const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        const files = readdirSync(`/proc/${pid}/fd`).length;
        return `${name} ${Math.round(Number(rss) / 1024)} MiB ${files} fds`;
      })
      .join(", ");
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#parts.random() * items.length)];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}
