// All instances of this machine: takes them up at the start, makes, removes and watches them.
import { EDGE_ID } from "../contracts/edge-id.ts";
import type { Offer } from "../contracts/host-answers.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { Observation } from "../contracts/observation.ts";
import { runnableEngines } from "../engines/index.ts";
import { NO_SANDBOX } from "../engines/sandbox/sandbox.ts";
import { messageOf, PublicError } from "../lib/errors.ts";
import { guardedInterval } from "../lib/guarded.ts";
import { forEachLimited } from "../lib/for-each-limited.ts";
import type { Log } from "../lib/log.ts";
import { Addresses } from "./os/addresses.ts";
import { runtimeSources, type HostSettings } from "./engine/context.ts";
import { offerOf } from "./engine/offer.ts";
import { Edge } from "./edge/edge.ts";
import { HostBackups } from "./backups/host-backups.ts";
import { freePorts } from "./os/free-ports.ts";
import { GatewayLink } from "./gateway/gateway-link.ts";
import type { KeeperLink } from "./os/keeper-link.ts";
import { Endings } from "./instance/endings.ts";
import { EngineReports } from "./instance/engine-reports.ts";
import { edgeHostOf } from "./instance/edge-host.ts";
import { environmentLogsOf } from "./instance/logs-host.ts";
import { HostBuilds } from "./builds/host-builds.ts";
import { Environments } from "./os/environments.ts";
import { Inspector } from "./instance/inspector.ts";
import { dismissClients } from "./instance/dismissal.ts";
import { closeAll } from "./instance/closing.ts";
import { Instance } from "./instance/instance.ts";
import { RecentRemovals } from "./instance/recent-removals.ts";
import { beforeStartWith, networkGrants, portIn, wakeReached } from "./instance/reachable-ports.ts";
import * as selections from "./instance/selections.ts";
import { EngineLogs } from "./logs/engine-logs.ts";
import { HostJournal } from "./journal/host-journal.ts";
import { addressSocket, ensureInstancesDir, gatewaySocket, instanceIds } from "./os/layout.ts";
import { trimLogs } from "./os/engine-logs.ts";
import { lockHolders } from "./os/locks.ts";
import { OomCounter } from "./engine/out-of-memory.ts";
import { Runner } from "./engine/runner.ts";
import { slotKindsOf, WarmPool } from "./provisioning/warm-pool.ts";
import { StartLimiter } from "./engine/start-limiter.ts";
import { Measurements } from "./metrics/measurements.ts";
import type { InstanceDependencies } from "./instance/dependencies.ts";

/**
 * The intervals of checks: of logs, since a customer can have its engine write as fast as the disk takes it; of the use of
 * engines that listen by themselves and may sleep; of the kernel's count of kills for lack of memory.
 */
const [LOG_CHECK_INTERVAL_MS, USE_CHECK_INTERVAL_MS, MEMORY_CHECK_INTERVAL_MS] = [1_000, 2_000, 1_000];

/** Adopting a running engine is mostly waiting for its answer; a busy engine does not hold up the host for longer. */
const [ADOPTIONS_AT_ONCE, ADOPTION_TIMEOUT_MS] = [64, 3_000];

/** Gets every change of every instance. */
export type Listener = (observation: Observation) => void;

export class Host {
  readonly #settings: HostSettings;
  readonly #log: Log;
  readonly #slots: WarmPool;
  readonly #gateway: GatewayLink;
  readonly #addresses: Addresses;
  readonly #deps: InstanceDependencies;
  #timers: ReturnType<typeof setInterval>[] = [];
  readonly #oomKills = new OomCounter();
  readonly #instances = new Map<string, Instance>();
  readonly journal: HostJournal;
  readonly logs: EngineLogs;
  readonly environmentLogs: ReturnType<typeof environmentLogsOf>;
  readonly measurements: Measurements;
  readonly backups: HostBackups;
  readonly edge: Edge;
  readonly reports = new EngineReports(this.#instances);
  readonly endings = new Endings(this.#instances);
  readonly inspector = new Inspector(this.#instances, () => this.#gateway);
  readonly builds: HostBuilds;
  readonly #environments: Environments;
  readonly #listeners = new Set<Listener>();
  readonly #removed = new RecentRemovals();

  /** @param keeper keeps sockets of addresses and processes of engines beyond this process; null when none does. */
  constructor(settings: HostSettings, log: Log, keeper: KeeperLink | null = null) {
    this.#settings = settings;
    this.#log = log;
    this.environmentLogs = environmentLogsOf(this.#instances, settings, log, (id) => this.edge.hasRoute(id));
    this.journal = new HostJournal(settings.dataDir, keeper, log, this.environmentLogs);
    const hasUid = (wanted: number) => this.#instances.values().some(({ uid }) => uid === wanted);
    this.#environments = new Environments({ ...settings, portOf: portIn(this.#instances) }, log, hasUid);
    this.#slots = new WarmPool(settings.dataDir, settings.warmSlots, log, settings.cgroups);
    this.#gateway = new GatewayLink(log);
    this.#addresses = new Addresses(log, keeper);
    this.backups = new HostBackups({
      ...settings,
      log,
      find: (id) => this.#instances.get(id)?.source,
      sources: () => [...this.#instances.values()].map(({ source }) => source),
    });
    this.measurements = new Measurements(settings.dataDir, log, {
      stored: () => selections.measuredInstances(this.#instances.values()),
      instances: () => [...this.#instances.values()].flatMap(({ metered }) => metered.now ?? []),
      find: (id) => this.#instances.get(id)?.metered.now ?? undefined,
      clientsOf: (id) => this.#gateway.clientsOf(id),
      replicaLagOf: (id) => this.#instances.get(id)?.source.lagSeconds ?? undefined,
    });
    this.edge = new Edge(edgeHostOf(this.#instances, settings, log, this));
    this.#deps = {
      settings,
      slots: this.#slots,
      starts: new StartLimiter(),
      gateway: this.#gateway,
      edge: this.edge,
      addresses: this.#addresses,
      backups: this.backups,
      allotUid: (spec) => this.#environments.allotUidFor(spec),
      stop: async (id) => await this.#instances.get(id)?.close(),
      log,
      runner: (parts) => {
        const beforeStart = beforeStartWith(this.edge, this.#environments.network);
        return new Runner({ ...parts, beforeStart }, this.journal.of(parts.id));
      },
      onChange: (observation) => this.#changed(observation),
      onTransition: (id, { to }) => wakeReached(id, to, this.#instances),
    };
    this.builds = new HostBuilds({
      ...settings,
      log,
      sources: () => runtimeSources(settings),
      sandbox: async () => (await settings.sandbox?.ensured()) ?? NO_SANDBOX,
      environments: this.#environments,
      userOf: (wanted) => selections.applicationWith(this.#instances.values(), wanted),
    });
    this.logs = new EngineLogs(settings.dataDir, this.#instances);
  }

  /**
   * Takes up every instance on the disk. Resolves when all found engines have answered or a timeout is over, so that no
   * false change is published. Other engines still start then.
   */
  async start(): Promise<void> {
    ensureInstancesDir(this.#settings.dataDir);
    const [holders, ids] = [lockHolders(), instanceIds(this.#settings.dataDir)];
    this.journal.keepOnly(ids);
    const loaded = ids.map((id) => this.#instance(id)).filter((instance) => instance.load(holders));
    await this.#environments.network.restore(...networkGrants(loaded));
    const { running = [], others = [] } = Object.groupBy(loaded, (instance) =>
      instance.process !== null ? "running" : "others",
    );
    this.#startTimers();
    await this.#listenForGateway();
    this.edge.start();
    this.environmentLogs.start();
    const adopted = forEachLimited(running, ADOPTIONS_AT_ONCE, (instance) => instance.resume());
    const started = forEachLimited(others, ADOPTIONS_AT_ONCE, (instance) => instance.resume());
    void Promise.all([adopted, started]).then(() => this.#warmUp());
    this.measurements.start();
    this.backups.start();
    await this.builds.start();
    await Promise.race([adopted, Bun.sleep(this.#settings.adoptionMs ?? ADOPTION_TIMEOUT_MS)]);
  }

  offer(): Promise<Offer> {
    return offerOf(this.#settings);
  }

  async ensure(spec: InstanceSpec): Promise<Observation> {
    if (this.#removed.has(spec.id)) throw new PublicError(`${spec.id} was removed.`);
    return await this.#instance(spec.id).ensure(spec);
  }

  /** @throws PublicError that says what keeps the instance awake. */
  async suspend(id: string): Promise<Observation> {
    const instance = this.#instances.get(id);
    if (instance === undefined) throw new PublicError(`${id} does not run.`);
    return await instance.suspend();
  }

  async remove(id: string): Promise<void> {
    // The edge has one id for ever, and one owner.
    if (id !== EDGE_ID) this.#removed.note(id);
    await dismissClients(this.#instances.get(id), this.#log);
    await Promise.all([this.#instance(id).remove(), this.backups.giveUp(id)]);
    this.#instances.delete(id);
    await this.#environments.network.revoke(id);
    this.backups.changed(id);
  }

  observe(id: string): Observation {
    return (
      this.#instances.get(id)?.observe() ?? new Instance(id, { ...this.#deps, onChange: () => {} }).observe()
    );
  }

  /** The ports that no program listens on, at any address of instances. */
  freePorts(ports: number[]): number[] {
    return freePorts(ports, this.#settings.bind);
  }

  /** The ids of all instances that are there. */
  ids(): string[] {
    return selections.presentIds(this.#instances.values());
  }

  /** The ids of the instances to which something may happen without a client or a request. */
  restlessIds(): string[] {
    return selections.restlessIds(this.#instances.values());
  }

  /** Calls the listener at every change; the returned function ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops all engines cleanly. They do not wait for builds, which may wait for something to be fetched. */
  async close(): Promise<void> {
    this.#stopTimers();
    await Promise.all([this.#slots.stop(), this.builds.close(), closeAll(this.#instances.values())]);
    await this.#environments.network.close();
    this.journal.close();
    this.#gateway.close();
    this.#addresses.close();
  }

  /** Lets all engines run on. */
  release(): void {
    this.#stopTimers();
    this.#gateway.close();
    this.#addresses.close();
    void Promise.all([this.#slots.stop(), this.builds.close()]);
    for (const instance of this.#instances.values()) instance.release();
    this.journal.close();
  }

  #instance(id: string): Instance {
    const known = this.#instances.get(id);
    if (known !== undefined) return known;
    const instance = new Instance(id, this.#deps);
    this.#instances.set(id, instance);
    return instance;
  }

  #startTimers(): void {
    const withEngine = () => selections.withEngine(this.#instances.values());
    const trim = () => trimLogs(withEngine(), this.#settings.dataDir, this.#log);
    const checkUse = () => {
      for (const { sleep } of withEngine()) void sleep.checkUse();
    };
    const every = (intervalMs: number, task: () => void) =>
      guardedInterval(this.#log, "a check of the instances failed", intervalMs, task);
    this.#timers = [
      every(LOG_CHECK_INTERVAL_MS, trim),
      every(USE_CHECK_INTERVAL_MS, () => void this.edge.measureUse().then(checkUse)),
      every(MEMORY_CHECK_INTERVAL_MS, () => {
        if (this.#oomKills.hasRisen())
          for (const { failures } of this.#instances.values()) failures.checkMemory();
      }),
    ];
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
    const { edge, measurements, environmentLogs, backups } = this;
    const { network } = this.#environments;
    for (const part of [edge, measurements, environmentLogs, backups, network]) part.stop();
  }

  /** An unknown instance in a gateway's message is being removed, so the message is ignored. */
  async #listenForGateway(): Promise<void> {
    const of = (id: string) => this.#instances.get(id);
    await this.#addresses.listen(addressSocket(this.#settings.dataDir), (id) => this.#instances.has(id));
    this.#gateway.listen(gatewaySocket(this.#settings.dataDir), {
      wake: (id) => of(id)?.wake(),
      woken: (id, wake) => of(id)?.sleep.woken(wake),
      idle: (id) => of(id)?.idle(),
      users: (id, question) => of(id)?.sleep.refreshUsers(question),
      addresses: this.#addresses,
    });
  }

  /** New clusters get the newest version of an engine by default, so the pool keeps slots of that version. */
  async #warmUp(): Promise<void> {
    this.#slots.start(slotKindsOf(await runnableEngines(this.#settings)));
  }

  #changed(observation: Observation): void {
    this.#log.info({ instance: observation.id, state: observation.state }, "instance changed");
    this.backups.changed(observation.id);
    this.journal.observed(observation);
    this.measurements.changed(observation.id, observation.state);
    this.edge.changed(observation);
    for (const listener of this.#listeners) {
      try {
        listener(observation);
      } catch (error) {
        this.#log.error({ error: messageOf(error) }, "a watcher could not be notified");
      }
    }
  }
}
