// The edge of this host: keeps the routes, and brings the engine that runs as the edge to them.
import { isDeepStrictEqual } from "node:util";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { EdgeAnswer, EdgeProbe } from "../../contracts/edge-probe.ts";
import type { EdgeRoute } from "../../contracts/edge-route.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { EngineContext } from "../../engines/engine.ts";
import type { EdgeTable } from "../../engines/edge.ts";
import { engineNamed } from "../../engines/index.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { writeFile } from "../engine/context.ts";
import { edgeSocket } from "../os/layout.ts";
import type { EdgeHost } from "./edge-host.ts";
import { probe } from "./probe.ts";
import { RouteFiles } from "./route-files.ts";
import { InstanceUse } from "./instance-use.ts";
import { LoneSleepers } from "./lone-sleepers.ts";
import { EdgeRoutes, MAX_ROUTES } from "./routes.ts";
import { ShownCertificate, type RunningEdge } from "./shown-certificate.ts";
import { WakeQueue } from "./wake-queue.ts";
import { WakeSocket } from "./wake-socket.ts";

/** How soon an edge that did not take its routes is tried again. */
const RETRY_MS = 200;
/** How often a renewed certificate is looked for. */
const CERTIFICATE_INTERVAL_MS = 1_000;

/** How often it is looked whether the requests of an instance have ended. */
const DRAIN_CHECK_MS = 20;

/** The edge as its instances use it. */
export type InstanceEdge = Pick<Edge, "measureUse" | "idleSeconds" | "drain" | "isFree">;

export class Edge {
  readonly #host: EdgeHost;
  readonly #files: RouteFiles;
  readonly #routes = new EdgeRoutes();
  readonly #queue: WakeQueue;
  readonly #wakes: WakeSocket;
  readonly #use = new InstanceUse();
  /** Wakes what sleeps of a route, which may be absent. */
  readonly wake: WakeQueue["wake"] = (route, reason) => this.#queue.wake(route, reason);
  readonly #sleepers = new LoneSleepers();
  /** What the running edge has; null while that is not known. */
  #known: EdgeTable | null = null;
  readonly #certificate: ShownCertificate;
  #sync: Promise<void> | null = null;
  #isStale = false;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(host: EdgeHost) {
    this.#host = host;
    this.#files = new RouteFiles(host.dataDir, host.log);
    this.#queue = new WakeQueue({ routes: this.#routes, find: (id) => host.find(id) });
    this.#wakes = new WakeSocket(edgeSocket(host.dataDir), this.#queue, host.log);
    this.#certificate = new ShownCertificate(host);
  }

  /** Takes up the routes on the disk, and answers the edge from now on. */
  start(): void {
    this.#routes.load(this.#files.load());
    this.#wakes.listen();
    this.#host.access?.listen();
    const uid = this.#host.uid();
    if (uid !== null) this.#admit(uid);
    this.#timer = setInterval(() => this.#certificate.check(this.#running()), CERTIFICATE_INTERVAL_MS);
    this.#begin();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#wakes.close();
    this.#host.access?.close();
  }

  #admit(uid: number): void {
    this.#wakes.admit(uid);
    this.#host.access?.admit(uid);
  }

  hasRoute(id: string): boolean {
    return this.#routes.get(id) !== undefined;
  }

  routes(): EdgeRoute[] {
    return this.#routes.all();
  }

  /** How many requests the edge holds for instances that do not run. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Leads the names of a route to its instances; resolves when it is on the disk and a running edge does so.
   * @throws PublicError when there are too many routes, or the running edge does not take it.
   */
  async ensure(route: EdgeRoute): Promise<void> {
    if (this.#routes.isFull && this.#routes.get(route.id) === undefined)
      throw new PublicError(`This host has ${MAX_ROUTES} routes already.`);
    const names = [...new Set(route.names)];
    const sequence = this.#routes.nextSequence();
    // The table changes with the file, before anything else can happen, so that no two changes overtake each other.
    const kept = this.#files.keep(sequence, { ...route, names });
    const losers = this.#routes.put({ ...route, names });
    this.#queue.changed(route.id);
    await kept;
    // After a kill before this, the sequences say which route has the name.
    for (const loser of losers) {
      const now = this.#routes.get(loser.id);
      if (now !== undefined) await this.#files.keep(this.#routes.nextSequence(), now);
    }
    await this.#synced();
  }

  /** Ends a route, which may be absent; its names answer 404 from then on. */
  async remove(id: string): Promise<void> {
    this.#files.forget(id);
    await failpoint("host.route.forgotten");
    this.#routes.remove(id);
    this.#queue.changed(id);
    await this.#synced();
  }

  /** Writes the files that the edge begins with. */
  beforeStart(context: EngineContext<InstanceSpec>): void {
    const { edge } = engineNamed(context.installed.name);
    if (edge === undefined) return;
    this.#forget();
    this.#use.reset();
    for (const [name, content] of Object.entries(edge.files(this.#table())))
      writeFile(context, name, content);
    if (context.account !== null) this.#admit(context.account.uid);
  }

  /** An instance has changed: the edge itself, or an instance that routes lead to. */
  changed({ id, state }: Pick<Observation, "id" | "state">): void {
    if (id === EDGE_ID) {
      if (state === "running") return this.#begin();
      this.#use.reset();
      return this.#forget();
    }
    this.#use.changed({ id, state });
    this.#sleepers.changed({ id, state });
    const routes = this.#routes.ofInstance(id);
    if (routes.size === 0) return;
    for (const route of routes) this.#queue.changed(route);
    this.#begin();
  }

  /** Asks a running edge which routes were used lately, once for all instances. */
  async measureUse(): Promise<void> {
    const running = this.#running();
    if (running === null) return;
    const askedAtMs = performance.now();
    try {
      const usage = await running.edge.usage(running.context);
      if (this.#running()?.context !== running.context) return;
      this.#host.access?.counted(usage);
      this.#use.measured(usage, (route) => this.#routes.get(route)?.instances ?? []);
      this.#sleepers.wakeUsed({ usage, askedAtMs }, this.#routes, (id) => this.#host.find(id));
    } catch (error) {
      this.#host.log.debug({ error }, "the edge did not report which routes are used");
    }
  }

  /** Asks through the edge who answers a name, which counts as use. @throws PublicError when the edge does not answer. */
  async probe(query: EdgeProbe): Promise<EdgeAnswer> {
    await this.#synced();
    const running = this.#running();
    if (running === null) throw new PublicError("The edge does not run.");
    return await probe(running, query);
  }

  /** How long an instance had no request, as far as this is known. */
  idleSeconds(instance: string): number {
    // Nothing could wake an instance without a route. Its time begins when a route leads there.
    if (this.#routes.ofInstance(instance).size === 0) this.#use.forget(instance);
    return this.#use.idleSeconds(instance);
  }

  /**
   * Waits until no request of an instance is under way. New ones are held, because the instance no longer runs.
   * @returns false when some still are, or the edge does not answer.
   */
  async drain(instance: string, withinMs: number): Promise<boolean> {
    const giveUpAt = performance.now() + withinMs;
    while (!(await this.isFree(instance))) {
      if (performance.now() >= giveUpAt) return false;
      await Bun.sleep(DRAIN_CHECK_MS);
    }
    return true;
  }

  /** Whether the edge leads no request to an instance that no longer runs, and none is under way. */
  async isFree(instance: string): Promise<boolean> {
    const running = this.#running();
    if (running === null) return false;
    try {
      await this.#synced();
      // Counted after the edge holds new requests, so every request is either counted or held.
      const usage = await running.edge.usage(running.context);
      if ((this.#host.find(instance)?.port ?? 0) > 0) return false;
      const wanted = this.#table();
      const isUnused = (route: string) =>
        isDeepStrictEqual(this.#known?.targets.get(route), wanted.targets.get(route)) &&
        (usage.get(route)?.openRequests ?? 0) === 0;
      return [...this.#routes.ofInstance(instance)].every(isUnused);
    } catch (error) {
      this.#host.log.debug({ error }, "the edge did not report whether an instance is used");
      return false;
    }
  }

  get #isStarted(): boolean {
    return this.#timer !== null;
  }

  #forget(): void {
    this.#known = null;
    this.#certificate.forget();
  }

  #table(): EdgeTable {
    return this.#routes.table((instance) => this.#host.find(instance)?.port ?? 0);
  }

  /** @throws PublicError when a running edge does not take the routes. */
  async #synced(): Promise<void> {
    this.#begin();
    await this.#sync;
    const isBehind = this.#known === null && this.#running() !== null;
    if (isBehind) throw new PublicError("The edge did not take the route; it is tried again.");
  }

  #begin(): void {
    // Before the routes were read, a running edge would lose all that it has.
    if (!this.#isStarted) return;
    this.#isStale = true;
    this.#sync ??= this.#bring().finally(() => this.#endSync());
  }

  /**
   * Begins again for a change that came after the last look of `#bring`, which its caller awaits along. An edge that takes
   * no routes is not asked without end, since each run takes the mark of such a change away.
   */
  async #endSync(): Promise<void> {
    this.#sync = null;
    if (this.#isStale) this.#begin();
    await this.#sync;
  }

  /** Brings the running edge to the routes, again as long as they change meanwhile. */
  async #bring(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const running = this.#running();
      if (running === null) return this.#forget();
      const { edge, context } = running;
      try {
        const known = (this.#known ??= await edge.read(context));
        const table = this.#table();
        await edge.change(context, known, table);
        // The edge may have ended and begun anew meanwhile.
        if (this.#running()?.context !== context || this.#known !== known) this.#isStale = true;
        else this.#known = table;
      } catch (error) {
        this.#failed(error);
        return;
      }
    }
  }

  #failed(error: unknown): void {
    this.#forget();
    if (this.#running() === null || !this.#isStarted) return;
    this.#host.log.warn({ error }, "the edge did not take its routes");
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#begin();
    }, RETRY_MS);
  }

  #running(): RunningEdge | null {
    const running = this.#host.running();
    const edge = running?.engine.edge;
    return running === null || edge === undefined ? null : { edge, context: running.context };
  }
}
