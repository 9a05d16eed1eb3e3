// Looks at a whole Pilvi with applications for whatever is not as it was ordered, and for leftovers.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Driver } from "../../src/drivers/driver.ts";
import { lockHolders } from "../../src/host/os/locks.ts";
import { messageOf } from "../../src/lib/errors.ts";
import { VERIFICATIONS } from "../../src/resources/shared/backups/verifications.ts";
import type { DeploymentResource } from "../../src/resources/applications/deployments/schema.ts";
import type { EventResource } from "../../src/sdk/index.ts";
import type { Database } from "../../src/store/database.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import type { ChaoticApplication, Said } from "./chaotic-application.ts";
import type { Resource } from "./ledger-sessions.ts";
import { read } from "./sleepers.ts";

export interface Inspected {
  applications: readonly ChaoticApplication[];
  attached: readonly Resource[];
  ask(application: ChaoticApplication): Promise<Said | null>;
}

export class ApplicationsInspection {
  readonly #pilvi: TestPilvi;
  readonly #store: Database;
  readonly #driver: Driver;
  readonly #inspected: Inspected;

  readonly #known: Set<string>;

  constructor(pilvi: TestPilvi, store: Database, driver: Driver, inspected: Inspected, known: Set<string>) {
    this.#known = known;
    this.#pilvi = pilvi;
    this.#store = store;
    this.#driver = driver;
    this.#inspected = inspected;
  }

  /** @returns the faults that do not end within the time. */
  async run(patienceMs: number): Promise<string[]> {
    const faults: string[] = [];
    const checks: (() => string[] | Promise<string[]>)[] = [
      () => this.#answers(),
      () => this.#deployments(),
      () => this.#work(),
      () => this.#instances(),
      () => this.#groups(),
      () => this.#environments(),
      () => this.#sleeps(),
      () => this.#releases(),
    ];
    for (const check of checks) {
      let found: string[] = [];
      const isWell = async () => {
        found = await Promise.resolve()
          .then(check)
          .catch((error: unknown) => [messageOf(error)]);
        found = found.filter((each) => !this.#known.has(each));
        if (found.length > 0) await Bun.sleep(100);
        return found.length === 0;
      };
      await until("all is well", isWell, patienceMs).catch(() => faults.push(...found));
    }
    for (const fault of faults) this.#known.add(fault);
    return faults;
  }

  async #answers(): Promise<string[]> {
    const faults = this.#inspected.applications.map(async (each) => {
      const said = await this.#inspected.ask(each);
      if (said !== null && said.error === undefined && each.isAsOrdered(said)) return [];
      return [`${each.name} said ${JSON.stringify(said)}, ordered ${JSON.stringify(each.ordered)}`];
    });
    return (await Promise.all(faults)).flat();
  }

  async #deployments(): Promise<string[]> {
    const faults = this.#inspected.applications.map(async ({ id, name }) => {
      const path = `/environments/${id}/deployments`;
      const { body } = await this.#pilvi.api<{ data: DeploymentResource[] }>("GET", path);
      return body.data
        .filter(({ attributes }) => attributes.finished_at === null)
        .map((each) => `the deployment ${each.id} of ${name} is ${each.attributes.status}`);
    });
    return (await Promise.all(faults)).flat();
  }

  async #work(): Promise<string[]> {
    const store = this.#store;
    const rows = await store<{ id: string }[]>`
      select * from work
      where kind <> ${VERIFICATIONS}
        and (owner is not null or deadline_at is not null or last_error is not null)`;
    return rows.map((row) => `work is under way: ${JSON.stringify(row)}`);
  }

  /** What the store, the disk, the host and the kernel say of the instances. */
  async #instances(): Promise<string[]> {
    const store = this.#store;
    const rows = await store<{ id: string }[]>`select id from instances`;
    const known = rows.map(({ id }) => id).sort();
    const onDisk = this.#pilvi.instanceFolders().sort();
    const faults: string[] = [];
    if (!Bun.deepEquals(known, onDisk))
      faults.push(`the store has ${known.join()}, the disk ${onDisk.join()}`);
    const folder = join(this.#pilvi.dataDir, "instances");
    const holders = lockHolders();
    for (const [path, pids] of holders) {
      if (!path.startsWith(`${folder}/`)) continue;
      const id = path.slice(folder.length + 1).replace("/lock", "");
      if (!existsSync(join(folder, id))) faults.push(`${pids.join()} hold the lock of ${id}`);
      for (const pid of pids) if (stateOf(pid) === "T") faults.push(`${pid} of ${id} is stopped`);
    }
    for (const id of onDisk) {
      const { state, lastError } = await this.#driver.observe(id);
      const count = holders.get(join(folder, id, "lock"))?.length ?? 0;
      if (state !== "running" && state !== "asleep") faults.push(`${id} is ${state}: ${lastError}`);
      if ((state === "running") !== count > 0) faults.push(`${id} is ${state} with ${count} processes`);
      if (lastError !== null) faults.push(`${id}: ${lastError}`);
    }
    return [...faults, ...this.#strays()];
  }

  /** Processes that mention the data directory and are no descendants of `pilvi up` or of an engine. */
  #strays(): string[] {
    const { dataDir } = this.#pilvi;
    const faults: string[] = [];
    for (const entry of readdirSync("/proc")) {
      if (!/^\d+$/.test(entry)) continue;
      const line = textOf(`/proc/${entry}/cmdline`).replaceAll("\0", " ");
      const id = /instances\/([a-z]+-[0-9a-f-]{36})/.exec(line)?.[1];
      if (line.includes(dataDir) && id !== undefined && !existsSync(join(dataDir, "instances", id)))
        faults.push(`${entry} runs ${line.slice(0, 200)}`);
    }
    return faults;
  }

  /** Each group of this Pilvi's belongs to an instance that is there. */
  #groups(): string[] {
    const parent = ["/sys/fs/cgroup/cpu/pilvi", "/sys/fs/cgroup/pilvi"].find((path) => existsSync(path));
    if (parent === undefined) return [];
    const faults: string[] = [];
    const groups = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of groups) {
      if (!name.startsWith("proc-")) continue;
      const pids = textOf(join(parent, name, "cgroup.procs"))
        .split("\n")
        .filter((pid) => pid !== "");
      const isOurs = pids.some((pid) => textOf(`/proc/${pid}/cmdline`).includes(this.#pilvi.dataDir));
      if (isOurs && !existsSync(join(this.#pilvi.dataDir, "instances", name)))
        faults.push(`the group ${name} has ${pids.join()}`);
    }
    return faults;
  }

  /** The status of each environment is what the host sees, with as many processes as ordered. */
  async #environments(): Promise<string[]> {
    const routes = await this.#driver.routes();
    const faults = this.#inspected.applications.map(async (each) => {
      const route = routes.find(({ id }) => id === each.id);
      const states = await Promise.all(
        (route?.instances ?? []).map(async (id) => (await this.#driver.observe(id)).state),
      );
      const { attributes, meta } = await each.application.environment();
      const found: string[] = [];
      const isAsleep = states.every((state) => state === "asleep");
      const isAwake = states.every((state) => state === "running");
      if (!isAsleep && !isAwake) found.push(`${each.name} is ${states.join()}`);
      const status = isAsleep ? "hibernating" : "running";
      if (attributes.status !== status) found.push(`${each.name} is ${attributes.status}, not ${status}`);
      if (meta.last_error !== null) found.push(`${each.name}: ${meta.last_error}`);
      const wanted = each.replicas * (each.hasWorker ? 2 : 1);
      if (states.length !== wanted) found.push(`${each.name} has ${states.length} of ${wanted} processes`);
      return found;
    });
    return (await Promise.all(faults)).flat();
  }

  /** Sleeps and wakes take turns in the events, and are as many as the host has counted. */
  async #sleeps(): Promise<string[]> {
    const faults = this.#inspected.attached.map(async (resource) => {
      const { attributes, meta } = await read(this.#pilvi, resource);
      const found: string[] = [];
      if (attributes.status !== "available") found.push(`${resource.id} is ${attributes.status}`);
      const types = await this.#eventsOf(resource.id);
      const gap = types.findIndex((type, index) => type === types[index + 1]);
      if (gap >= 0) found.push(`${resource.id} has ${types[gap]} twice at ${gap}`);
      const wakes = types.filter((type) => type === "awake").length;
      const { state, wakes: counted } = meta.sleep;
      const last = types.at(-1) ?? "awake";
      // A wake whose report was lost in a kill comes in with the next sleep.
      if (state === "awake" && last === "asleep" && counted === wakes + 1) return found;
      if (counted !== wakes) found.push(`${resource.id} counts ${counted - wakes} wakes more than events`);
      if (["asleep", "awake"].includes(state) && last !== state)
        found.push(`${resource.id} is ${state}, its latest event ${last}`);
      return found;
    });
    return (await Promise.all(faults)).flat();
  }

  async #eventsOf(id: string): Promise<string[]> {
    const events: EventResource[] = [];
    let cursor = "";
    for (;;) {
      const path = `/events?filter[resource]=${id}&filter[type]=asleep,awake&per_page=100${cursor}`;
      const { body } = await this.#pilvi.api<{ data: EventResource[]; meta: { next_cursor: string | null } }>(
        "GET",
        path,
      );
      events.push(...body.data);
      if (body.meta.next_cursor === null) break;
      cursor = `&page[cursor]=${encodeURIComponent(body.meta.next_cursor)}`;
    }
    return events.map(({ attributes }) => attributes.type).toReversed();
  }

  /** The host keeps no more releases than it has to. */
  #releases(): string[] {
    const count = readdirSync(join(this.#pilvi.dataDir, "releases")).filter(
      (name) => !name.startsWith("."),
    ).length;
    const most = this.#inspected.applications.length * 7;
    return count > most ? [`there are ${count} releases`] : [];
  }
}

function stateOf(pid: number): string {
  return /^State:\s+(\w)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? "";
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
