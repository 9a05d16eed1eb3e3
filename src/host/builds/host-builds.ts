// All builds and releases of this host, and commands in releases: takes orders, runs some at a time, and goes on after a
// host was killed.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import {
  BUILD_VERSION,
  type Build,
  type BuildSpec,
  type BuildLogQuery,
  type BuildLogSlice,
  type Release,
} from "../../contracts/builds.ts";
import { BusyError, PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { buildsDir } from "../os/layout.ts";
import { TreeRemover } from "../../lib/tree-removal.ts";
import { oldBuilds } from "./old-builds.ts";
import { buildFolder, deleteRelease, readBuild, readRelease, writeBuild } from "./build-folder.ts";
import { readBuildLog } from "./build-log.ts";
import { keepSource, readOrder, type BuildOrder } from "./build-order.ts";
import { interruption } from "./build-failures.ts";
import { BuildFollowers } from "./build-followers.ts";
import { BuildQueue, type BegunBuild } from "./build-queue.ts";
import { BuildStages } from "./build-stage.ts";
import { BuildRun, type BuildParts } from "./build-run.ts";
import { Receipts } from "./receipts.ts";
import { forgetValues, formerBuilds } from "./former-builds.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** The most builds that wait; a host that is so far behind takes no more. */
export const MAX_QUEUED = 200;

/** The most terminals at once: each takes a part of the memory of this process. */
const MAX_TERMINALS = 64;

/** What this part asks of the host. */
export interface HostBuildsParts extends BuildParts {
  /** How many builds run at once; one for two processors when left out. */
  buildsAtOnce?: number;
  /** Names an instance that runs a release, or belongs to an environment; undefined when none does. */
  userOf(wanted: { release: string } | { environment: string }): string | undefined;
}

export class HostBuilds {
  readonly #parts: HostBuildsParts;
  readonly #stages: BuildStages;
  readonly #remover: TreeRemover;
  readonly #builds = new Map<string, Build>();
  readonly #queue: BuildQueue;
  readonly #running = new Map<string, { run: BuildRun; ended: Promise<void> }>();
  /** The specs of commands in releases that have not ended. */
  readonly #commands = new Map<string, BuildSpec>();
  readonly #receipts = new Receipts();
  readonly #followers = new BuildFollowers();
  #isLeaving = false;

  constructor(parts: HostBuildsParts) {
    this.#parts = parts;
    this.#stages = new BuildStages(parts);
    this.#remover = new TreeRemover(parts.log);
    this.#queue = new BuildQueue(parts.buildsAtOnce ?? Math.max(1, Math.floor(availableParallelism() / 2)));
  }

  /** Takes up the builds of an earlier host: what waited goes on, and what ran has failed. */
  async start(): Promise<void> {
    const kept = await formerBuilds(this.#parts, this.#remover);
    for (const { build, spec } of kept) {
      this.#builds.set(build.id, build);
      if (build.state === "queued" && spec.release !== undefined) this.#commands.set(build.id, spec);
    }
    this.#queue.load(kept);
    this.#next();
    await this.#prune();
    void forgetValues(this.#parts, kept, (id) => !this.#isLeaving && this.#builds.has(id));
  }

  /**
   * Takes an order; resolves when its source is kept, with the build as it waits. An order that was taken before is not
   * taken again.
   * @throws PublicError when the release that its commands are for is not on this host, BusyError when too many wait.
   */
  async order(body: ReadableStream<Uint8Array> | null): Promise<Build> {
    const order = await readOrder(body);
    return await this.#receipts.run(order.spec.id, () => this.#receive(order));
  }

  async #receive(order: BuildOrder): Promise<Build> {
    const { id, environment, release } = order.spec;
    const known = this.#builds.get(id);
    if (known !== undefined) return known;
    if (this.#queue.size >= MAX_QUEUED) throw new BusyError("Too many builds wait on this host.");
    this.#refuseTerminal(order.spec);
    if (release !== undefined && this.release(release)?.environment !== environment)
      throw new PublicError(`The release ${release} of ${environment} is not on this host.`);
    try {
      await this.#prune();
      return await this.#take(order);
    } catch (error) {
      this.#builds.delete(id);
      this.#followers.wake(id);
      this.#commands.delete(id);
      this.#discard(buildFolder(this.#parts.dataDir, id).path);
      throw error;
    }
  }

  /** @throws PublicError for a terminal of more than a command, BusyError when too many are open. */
  #refuseTerminal({ release, steps, terminal }: BuildSpec): void {
    if (terminal !== true) return;
    if (release === undefined || steps.length !== 1)
      throw new PublicError("Only a single command in a release has a terminal.");
    const open = this.#commands.values().filter((command) => command.terminal === true);
    if (open.toArray().length >= MAX_TERMINALS)
      throw new BusyError(`${MAX_TERMINALS} terminals are open on this host. Try again when one has ended.`);
  }

  /** Keeps an order with its source, and queues it. */
  async #take(order: BuildOrder): Promise<Build> {
    const { id, environment, release } = order.spec;
    const folder = buildFolder(this.#parts.dataDir, id);
    mkdirSync(buildsDir(this.#parts.dataDir), { recursive: true, mode: 0o711 });
    mkdirSync(folder.path, { recursive: true, mode: 0o711 });
    if (release === undefined) await keepSource(order, folder.source);
    await failpoint("host.build.received");
    const build: Build = {
      version: BUILD_VERSION,
      id,
      environment,
      state: "queued",
      queuedAt: new Date().toISOString(),
      startedAt: null,
      endedAt: null,
      steps: [],
      failure: null,
      isolation: null,
    };
    this.#builds.set(id, build);
    if (release !== undefined) this.#commands.set(id, order.spec);
    await writeBuild(folder, { build, spec: order.spec });
    await failpoint("host.build.queued");
    this.#queue.add(order.spec);
    this.#next();
    return build;
  }

  /** A build as it is now; null for an unknown id. */
  observe(id: string): Build | null {
    return this.#running.get(id)?.run.build ?? this.#builds.get(id) ?? null;
  }

  /** Lines of a build's log. @throws PublicError for an unknown build. */
  async log(id: string, { after, waitMs = 0 }: BuildLogQuery, signal: AbortSignal): Promise<BuildLogSlice> {
    const { log } = buildFolder(this.#parts.dataDir, id);
    const giveUpAt = performance.now() + waitMs;
    for (;;) {
      const build = this.observe(id);
      if (build === null) throw new PublicError(`The build ${id} is not on this host.`);
      const slice = readBuildLog(log, after);
      const isEnd = build.endedAt !== null && slice.lines.length === 0;
      const leftMs = giveUpAt - performance.now();
      if (slice.lines.length > 0 || isEnd || signal.aborted || leftMs <= 0) return { ...slice, isEnd };
      await this.#followers.wait(id, leftMs, signal);
    }
  }

  /** The terminal of a command that runs. @throws PublicError when it does not run, or has none. */
  terminal(id: string): TerminalSession {
    const terminal = this.#running.get(id)?.run.terminal ?? null;
    if (terminal === null) throw new PublicError(`No command ${id} runs with a terminal.`);
    return terminal;
  }

  /**
   * Ends a build with all its processes, once its order has come; resolves when nothing of it runs. A build that has
   * ended stays as it is.
   */
  async cancel(id: string): Promise<Build> {
    await this.#receipts.ended(id);
    const running = this.#running.get(id);
    running?.run.stop();
    await running?.ended;
    const build = this.observe(id);
    if (build === null) throw new PublicError(`The build ${id} is not on this host.`);
    return build.state === "queued" ? await this.#cancelQueued(build) : build;
  }

  /** Deletes a build with its log, and ends it before; its release stays. It may be absent, or still be coming. */
  async remove(id: string): Promise<void> {
    await this.#receipts.ended(id);
    const folder = buildFolder(this.#parts.dataDir, id);
    if (this.observe(id) !== null) await this.cancel(id);
    this.#builds.delete(id);
    this.#followers.wake(id);
    this.#discard(folder.path);
  }

  /** Forgets an environment with its cache and its user. @throws PublicError while an instance or a build needs it. */
  async removeEnvironment(id: string): Promise<void> {
    const isOf = (build: Build | null) => build?.environment === id && build.endedAt === null;
    const build = this.#builds.keys().find((each) => isOf(this.observe(each)));
    const user = this.#parts.userOf({ environment: id }) ?? build;
    if (user !== undefined) throw new PublicError(`The environment ${id} is in use by ${user}.`);
    await this.#parts.environments.remove(id);
  }

  /** A release; null when it is not on this host. */
  release(id: string): Release | null {
    return readRelease(this.#parts, id);
  }

  /** Deletes a release, which may be absent. @throws PublicError while an instance or a command needs it. */
  async removeRelease(id: string): Promise<void> {
    const command = this.#commands.values().find(({ release }) => release === id)?.id;
    const user = this.#parts.userOf({ release: id }) ?? command;
    if (user !== undefined) throw new PublicError(`The release ${id} is in use by ${user}.`);
    deleteRelease(this.#parts.dataDir, id, this.#remover);
  }

  /** Ends all running builds, as interrupted. */
  async close(): Promise<void> {
    this.#isLeaving = true;
    this.#remover.close();
    const running = [...this.#running.values()];
    for (const { run } of running) run.stop(interruption(run.spec));
    await Promise.all(running.map(({ ended }) => ended));
  }

  /** Deletes a folder of a build, or in it, which may be absent; nobody waits for that. */
  #discard(path: string): void {
    this.#remover.discard(path, buildsDir(this.#parts.dataDir));
  }

  async #prune(): Promise<void> {
    const gaveUp = (error: unknown) => this.#parts.log.warn({ error }, "an old build could not be deleted");
    for (const id of oldBuilds(this.#builds.values(), Date.now())) await this.remove(id).catch(gaveUp);
  }

  async #cancelQueued(build: Build): Promise<Build> {
    const folder = buildFolder(this.#parts.dataDir, build.id);
    const file = readBuild(folder);
    this.#queue.remove(build.id);
    this.#commands.delete(build.id);
    const cancelled: Build = { ...build, state: "cancelled", endedAt: new Date().toISOString() };
    this.#builds.set(build.id, cancelled);
    this.#followers.wake(build.id);
    rmSync(folder.source, { force: true });
    if (file !== null) await writeBuild(folder, { build: cancelled, spec: file.spec });
    return cancelled;
  }

  #next(): void {
    while (!this.#isLeaving) {
      const begun = this.#queue.begin();
      if (begun === null) return;
      this.#begin(begun);
    }
  }

  #begin(begun: BegunBuild): void {
    const { id } = begun;
    const folder = buildFolder(this.#parts.dataDir, id);
    const file = existsSync(folder.file) ? readBuild(folder) : null;
    if (file === null) return begun.end();
    const onProgress = () => this.#followers.wake(id);
    const run = new BuildRun(this.#parts, this.#stages, folder, { ...file, onProgress });
    const ended = run.run().catch((error: unknown) => {
      this.#parts.log.error({ error, build: id }, "the state of a build could not be kept");
    });
    const over = this.#whenEnded(begun, run, ended);
    this.#running.set(id, { run, ended: over });
  }

  async #whenEnded({ id, end }: BegunBuild, run: BuildRun, ended: Promise<void>): Promise<void> {
    await ended;
    end();
    this.#builds.set(id, run.build);
    this.#running.delete(id);
    this.#commands.delete(id);
    this.#next();
  }
}
