// Sleep and wake of one instance: how they are done, what is kept of them, and what the gateway is told.
import { isDeepStrictEqual } from "node:util";
import type { Sleep, Wake } from "../../drivers/driver.ts";
import { leftOutSentence, type UserList } from "../../engines/users.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { HostSettings } from "../engine/context.ts";
import { IdleProbe, idleSecondsBeforeSleep } from "./idle-probe.ts";
import { routeOf } from "../gateway/route.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import { KnownUsers, withUsersOf } from "../manifest/known-users.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { wakeOf } from "../lifecycle/state.ts";
import type { InstanceFolder } from "../os/layout.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import { saysAsleep, type Manifest } from "../manifest/manifest.ts";
import type { EngineRunner } from "../engine/runner.ts";
import { lookAtUsers } from "../engine/published-users.ts";
import { reasonOf } from "../engine/failure-handler.ts";
import { suspend, tellOfRestored, WHEN_ASKED, WHEN_QUIET } from "./suspension.ts";
import { ownWake, woken } from "../manifest/spec-change.ts";

/** What a sleep cycle is made of. */
export interface SleepCycleParts {
  id: string;
  settings: HostSettings;
  gateway: InstanceGateway;
  address: InstanceAddress;
  log: Log;
  lifecycle: InstanceLifecycle;
  /** Aborted when nothing is to be begun any more. */
  leaving: AbortSignal;
  folder: InstanceFolder;
  file: ManifestFile;
  condition: Condition;
  runner: EngineRunner;
  /** Called when nobody has used the engine for as long as the spec says. */
  onIdle(): void;
  /** Called when an engine has ended for a sleep that did not come about, so that it has to be started again. */
  onEndedInVain(error: unknown): void;
}

export class SleepCycle {
  readonly #parts: SleepCycleParts;
  readonly #users: KnownUsers;
  /** Ends the suspension that is under way. */
  #suspension = new AbortController();
  #startedAtMs = 0;
  #latestStart: { startMs: number; readyMs: number } | null = null;
  #idleProbe: IdleProbe | null = null;

  constructor(parts: SleepCycleParts) {
    this.#parts = parts;
    this.#users = new KnownUsers({
      ask: () => this.#askUsers(),
      own: () => parts.file.manifest?.spec.users ?? [],
      onAnswer: () => this.tell(true),
      onLeftOut: (leftOut) => parts.condition.notice("left-out", leftOutSentence(leftOut)),
    });
  }

  /** Null for an instance that is not behind the gateway. */
  observe(): Sleep | null {
    const { file, condition, lifecycle } = this.#parts;
    if (file.manifest?.servedThrough !== "gateway") return null;
    const { since, lastWake, wakes } = file.manifest.sleep;
    if (condition.state === "asleep") return { state: "asleep", since, lastWake, wakes };
    const isDraining = condition.state === "draining";
    if (!isDraining && wakeOf(lifecycle.state) === null) return { state: "awake", since, lastWake, wakes };
    const state = isDraining ? "draining" : "waking";
    return { state, since: condition.since.toISOString(), lastWake, wakes };
  }

  /** Tells the gateway how the instance is now. @param isAnswer whether it waits for it in any case. */
  tell(isAnswer = false): void {
    const { settings, folder, file, runner, condition, gateway } = this.#parts;
    const { manifest } = file;
    const { runnable } = runner;
    const latestStart = this.#latestStart;
    // A cache has no users but those of its spec.
    const users = manifest?.spec.kind === "cache" ? manifest.spec.users : this.#users.list;
    const entry = routeOf({ settings, folder, manifest, runnable, condition, users, latestStart });
    if (entry !== null) gateway.tell(entry, isAnswer);
  }

  /** Ends a suspension that is under way, which leaves the instance awake. */
  interrupt(): void {
    this.#suspension.abort();
  }

  /**
   * Suspends the instance, which runs.
   * @param isIdle whether nobody asked for it, so that nobody may notice.
   * @throws PublicError that says what keeps it awake.
   */
  async suspend(isIdle: boolean): Promise<void> {
    const { id, file, runner, lifecycle, onEndedInVain } = this.#parts;
    if (lifecycle.isLeaving) throw new PublicError(`${id} is being stopped.`);
    const { manifest } = file;
    const { runnable, process } = runner;
    if (manifest === null || runnable === null || process === null)
      throw new PublicError(`${id} does not run.`);
    const { spec } = manifest;
    if (spec.exposure.through === "engine")
      throw new PublicError(`${id} listens by itself, so it cannot sleep.`);
    const seconds = "sleepAfterSeconds" in spec ? spec.sleepAfterSeconds : null;
    // The desired state may be another since the gateway said so.
    if (isIdle && seconds === null) return;
    this.#suspension = new AbortController();
    const { signal } = this.#suspension;
    try {
      const sleeper = { ...this.#parts, users: this.#users, runnable, process, signal };
      await suspend(sleeper, isIdle ? WHEN_QUIET : WHEN_ASKED);
    } catch (error) {
      if (runner.process === null) onEndedInVain(error);
      if (error instanceof PublicError) throw error;
      throw new PublicError(reasonOf(error, "The host could not put it to sleep."), error);
    }
  }

  /**
   * Goes on with an instance whose manifest says that it sleeps.
   * @returns whether an engine ran all the same, and serves from now on.
   */
  async recover(): Promise<boolean> {
    const { file, runner, lifecycle, gateway, log } = this.#parts;
    const { manifest } = file;
    if (manifest === null) return false;
    try {
      const runnable = await runner.choose(manifest);
      const { process } = runner;
      if (lifecycle.state.name === "asleep") return false;
      if (process === null) {
        lifecycle.report({ type: "suspended" });
        return false;
      }
      // A host was killed after it had written this down. Clients must be parted first, as it would have done.
      await gateway.contact;
      const isStopping = !(await runnable.engine.isReady(runnable.context));
      if (isStopping && (await runner.end(runnable, process))) {
        lifecycle.report({ type: "suspended" });
        return false;
      }
      await file.enter("awake", {});
      return true;
    } catch (error) {
      log.warn({ error: messageOf(error) }, "a sleep could not be taken up");
      return false;
    }
  }

  /** It goes on sleeping, whatever was in its way. */
  sleepOn(): void {
    const { condition, lifecycle } = this.#parts;
    if (!lifecycle.leads("addressRegained")) return;
    condition.lastError = null;
    lifecycle.report({ type: "addressRegained" });
  }

  /** The users are those that were kept. */
  loaded(): void {
    const { manifest } = this.#parts.file;
    if (manifest === null) return;
    const { users, usersLeftOut } = manifest.sleep;
    this.#users.set({ users: users ?? manifest.spec.users, leftOut: usersLeftOut });
    this.tell();
  }

  /** The spec is another from here on. */
  recorded(former: Manifest | null): void {
    const { condition, file, lifecycle } = this.#parts;
    const { manifest } = file;
    if (manifest === null) return;
    const isWoken = saysAsleep(former) && !file.isAsleep;
    if (isWoken) lifecycle.report({ type: "woken", isOwn: true });
    // What became of users that are others now is of no interest any more.
    if (!isDeepStrictEqual(former?.spec.users, manifest.spec.users)) condition.notice("users", null);
    const users = withUsersOf(manifest.spec, former === null ? null : this.#users.list);
    this.#users.set({ users, leftOut: manifest.sleep.usersLeftOut });
    this.tell();
  }

  /**
   * A start begins; of one that sleeps it is noted that it does not any more.
   * @param askedAtMs when a client asked for it; null when nobody waits.
   * @returns what `running` must not be told before: from then on its users may change.
   */
  beginStart(askedAtMs: number | null): Promise<void> {
    const { file, runner, lifecycle } = this.#parts;
    this.#startedAtMs = askedAtMs ?? performance.now();
    if (!file.isAsleep || file.manifest === null) return Promise.resolve();
    // A crash may come at any time from here on, and the start after it is to bring users and databases there again.
    const durable = file.change({ state: "awake", isSettled: false, sleep: woken(file.manifest.sleep) });
    lifecycle.report({ type: "woken", isOwn: false });
    return runner.runnable?.engine.users === undefined ? Promise.resolve() : durable;
  }

  /**
   * Decides who listens for the engine that is about to be started, and hands the address to that side.
   * @throws PublicError when another program has it.
   */
  async takeAddress(): Promise<void> {
    const { id, file, gateway, address } = this.#parts;
    const through = file.manifest?.spec.exposure.through ?? "engine";
    if (file.manifest?.servedThrough !== through) file.note({ servedThrough: through });
    if (through === "engine") await gateway.withdraw(id);
    await address.admitEngine();
  }

  /** The engine has a process. */
  spawned(): void {
    this.#latestStart = { startMs: performance.now() - this.#startedAtMs, readyMs: 0 };
    this.#parts.lifecycle.report({ type: "spawned" });
    this.tell();
  }

  /** The engine takes connections. */
  ready(): void {
    this.#parts.condition.notice("users", null);
    if (this.#latestStart === null) return;
    const { startMs } = this.#latestStart;
    this.#latestStart = { startMs, readyMs: performance.now() - this.#startedAtMs - startMs };
  }

  /**
   * The engine takes connections, and its start has come to its end.
   * @param isApplied whether it has all of the spec.
   * @param areUsersKnown whether nobody can have changed them meanwhile.
   */
  started(isApplied: boolean, areUsersKnown: boolean): void {
    const { file, lifecycle } = this.#parts;
    const wake = wakeOf(lifecycle.state);
    this.#idleProbe = null;
    if (wake?.isOwn === true && file.manifest !== null && this.#latestStart !== null) {
      this.#noteWake(ownWake(wake.at, this.#latestStart));
    }
    lifecycle.report({ type: "served", isApplied });
    if (!areUsersKnown && wake === null) this.refreshUsers();
  }

  /** Keeps how it was woken. */
  woken(lastWake: Wake): void {
    this.#noteWake(lastWake);
    this.#parts.condition.changed();
  }

  /** Has the gateway told who may log in now, whether it is another or not. */
  refreshUsers(): void {
    void this.#users.refresh();
  }

  /** Has it fall asleep if it listens by itself, is to sleep, and has not been used: nobody else can tell of that. */
  async checkUse(): Promise<void> {
    const { file, runner, condition, log, onIdle } = this.#parts;
    const seconds = idleSecondsBeforeSleep(file.manifest);
    if (seconds === null || condition.state !== "running" || runner.process === null || !runner.runnable)
      return;
    try {
      const unusedSeconds = await (this.#idleProbe ??= new IdleProbe()).seconds(runner.runnable);
      if (unusedSeconds >= seconds) onIdle();
    } catch (error) {
      log.debug({ error }, "the engine did not tell how it is used");
    }
  }

  /** It is told of only, so a disk that does not take it is no reason to fail what has worked. */
  #noteWake(lastWake: Wake | null): void {
    const { file, log } = this.#parts;
    if (file.manifest === null) return;
    try {
      file.note({ sleep: { ...file.manifest.sleep, lastWake } });
    } catch (error) {
      log.warn({ error }, "how it was woken could not be kept");
    }
  }

  async #askUsers(): Promise<UserList | null> {
    const { runner, condition, log } = this.#parts;
    const isAsked = condition.state === "running" || condition.state === "draining";
    if (!isAsked || runner.runnable === null) return null;
    try {
      const look = await lookAtUsers(runner.runnable);
      if (look !== null) tellOfRestored(this.#parts, look);
      return look && look.users;
    } catch (error) {
      log.warn({ error }, "the engine did not tell who may log in");
      return null;
    }
  }
}
