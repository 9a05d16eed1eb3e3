// Sleep and wake of an instance: the steps, their record in the manifest, and the notices to the gateway.
import { isDeepStrictEqual } from "node:util";
import type { Sleep, Wake, WakeReason } from "../../contracts/sleep.ts";
import { BeyondBounds } from "../../engines/engine-errors.ts";
import { leftOutSentence, type UserList } from "../../engines/users.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { EdgeUse } from "./edge-use.ts";
import { canSleep, proxyOf } from "./client-proxy.ts";
import { IdleProbe, idleSecondsBeforeSleep } from "./idle-probe.ts";
import { routeOf } from "../gateway/route.ts";
import { KnownUsers, withUsersOf } from "../manifest/known-users.ts";
import { wakeOf } from "../lifecycle/state.ts";
import { saysAsleep, type Manifest } from "../manifest/manifest.ts";
import { lookAtUsers } from "../engine/published-users.ts";
import { reasonOf } from "../engine/failure-handler.ts";
import type { SleepCycleParts } from "./sleep-cycle-parts.ts";
import { endForSleep, suspend, reportRestored, WHEN_ASKED, WHEN_IDLE } from "./suspension.ts";
import { OWN_REASON, wakeBy, woken } from "../manifest/spec-change.ts";

export class SleepCycle {
  readonly #parts: SleepCycleParts;
  readonly #users: KnownUsers;
  readonly #edgeUse: EdgeUse;
  /** Aborts the suspension that is under way. */
  #suspension = new AbortController();
  #startedAtMs = 0;
  #latestStart: { startMs: number; readyMs: number } | null = null;
  /** Whether the host has recorded the latest wake, so that no client may count as its cause. */
  #isWakeRecorded = false;
  #idleProbe: IdleProbe | null = null;

  constructor(parts: SleepCycleParts) {
    this.#parts = parts;
    this.#edgeUse = new EdgeUse(parts);
    this.#users = new KnownUsers({
      ask: () => this.#askUsers(),
      own: () => parts.file.manifest?.spec.users ?? [],
      onAnswer: (question) => this.publish(question),
      onLeftOut: (leftOut) => parts.condition.notice("left-out", leftOutSentence(leftOut)),
    });
  }

  /** The sleep state of the instance; null when its engine has clients of its own. */
  observe(): Sleep | null {
    const { file, condition, lifecycle } = this.#parts;
    if (file.manifest === null || proxyOf(file.manifest, this.#parts) === null) return null;
    const { since, lastWake, wakes } = file.manifest.sleep;
    if (condition.state === "asleep") return { state: "asleep", since, lastWake, wakes };
    const isDraining = condition.state === "draining";
    if (!isDraining && wakeOf(lifecycle.state) === null) return { state: "awake", since, lastWake, wakes };
    const state = isDraining ? "draining" : "waking";
    return { state, since: condition.since.toISOString(), lastWake, wakes };
  }

  /**
   * Sends the route to the gateway.
   * @param question the question of the gateway that it answers, even if it has not changed.
   */
  publish(question?: number): void {
    const { settings, folder, file, runner, condition, gateway } = this.#parts;
    const { manifest } = file;
    const { runnable } = runner;
    const latestStart = this.#latestStart;
    // A cache has only the users of its spec.
    const users = manifest?.spec.kind === "cache" ? manifest.spec.users : this.#users.list;
    const entry = routeOf({ settings, folder, manifest, runnable, condition, users, latestStart });
    if (entry !== null) gateway.publish(entry, question);
  }

  /** A client of the edge, an application, or the control plane needs the instance. */
  wanted(reason: WakeReason): void {
    this.#edgeUse.wanted(reason);
  }

  /** Aborts a suspension that is under way. The instance stays awake. */
  interrupt(): void {
    this.#suspension.abort();
  }

  /**
   * Suspends the running instance.
   * @param isIdle whether idleness is the reason, so that no client may notice.
   * @throws PublicError that says what keeps it awake.
   */
  async suspend(isIdle: boolean): Promise<void> {
    const { id, file, runner, lifecycle, onFailed } = this.#parts;
    await this.#edgeUse.measure();
    if (lifecycle.isLeaving) throw new PublicError(`${id} is being stopped.`);
    const { manifest } = file;
    const { runnable, process } = runner;
    if (manifest === null || runnable === null || process === null)
      throw new PublicError(`${id} does not run.`);
    const { spec } = manifest;
    if (!canSleep(spec)) throw new PublicError(`${id} listens by itself, so it cannot sleep.`);
    const seconds = "sleepAfterSeconds" in spec ? spec.sleepAfterSeconds : null;
    // The spec may have changed since the instance was found idle, or an earlier host may have found it so.
    if (isIdle && (seconds === null || !this.#edgeUse.allowSleepAfter(seconds))) return;
    this.#edgeUse.forgetReason();
    this.#suspension = new AbortController();
    const { signal } = this.#suspension;
    try {
      const proxy = proxyOf(manifest, this.#parts);
      const sleeper = { ...this.#parts, proxy, users: this.#users, runnable, process, signal };
      await suspend(sleeper, isIdle ? WHEN_IDLE : WHEN_ASKED);
    } catch (error) {
      if (runner.process === null) onFailed(error);
      if (error instanceof PublicError) throw error;
      throw new PublicError(reasonOf(error, "The host could not put it to sleep."), error);
    }
  }

  /**
   * Takes up an instance whose manifest says that it sleeps.
   * @returns whether its engine still runs, and serves from now on.
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
      // An earlier host was killed after it had recorded the sleep. It had yet to disconnect the clients, so this host
      // does that first.
      await gateway.contact;
      // An application that is about to end still answers. Nobody needs it: the edge holds every request.
      const { isEnding } = runner;
      const isStopping =
        isEnding || this.#edgeUse.isKnown || !(await runnable.engine.isReady(runnable.context));
      if (isStopping && (await endForSleep(runner, runnable, process))) {
        lifecycle.report({ type: "suspended" });
        return false;
      }
      await file.enter("changed", {});
      return true;
    } catch (error) {
      log.warn({ error: messageOf(error) }, "a sleep could not be taken up");
      return false;
    }
  }

  /** Returns a displaced instance to its sleep, because the host holds its address again. */
  sleepOn(): void {
    const { condition, lifecycle } = this.#parts;
    if (!lifecycle.leads("addressRegained")) return;
    condition.lastError = null;
    lifecycle.report({ type: "addressRegained" });
  }

  /** Takes the users over from the manifest that was read. */
  loaded(): void {
    const { manifest } = this.#parts.file;
    if (manifest === null) return;
    const { users, usersLeftOut } = manifest.sleep;
    this.#users.set({ users: users ?? manifest.spec.users, leftOut: usersLeftOut });
    this.publish();
  }

  /** The manifest has a new spec. */
  recorded(former: Manifest | null): void {
    const { condition, file, lifecycle } = this.#parts;
    const { manifest } = file;
    if (manifest === null) return;
    const isWoken = saysAsleep(former) && !file.isAsleep;
    if (isWoken) lifecycle.report({ type: "woken", isOwn: true });
    // Notices about the former users are obsolete once the spec changes its users.
    if (!isDeepStrictEqual(former?.spec.users, manifest.spec.users)) condition.notice("users", null);
    const users = withUsersOf(manifest.spec, former === null ? null : this.#users.list);
    this.#users.set({ users, leftOut: manifest.sleep.usersLeftOut });
    this.publish();
  }

  /**
   * Begins a start, and records in the manifest that a sleeping instance is awake.
   * @param askedAtMs when a client asked for the start; null when no client waits.
   * @returns a promise of that record on the disk. The state must not become `running` before it resolves, because
   * users may change their passwords from then on.
   */
  beginStart(askedAtMs: number | null): Promise<void> {
    const { file, runner, lifecycle } = this.#parts;
    this.#startedAtMs = askedAtMs ?? performance.now();
    if (!file.isAsleep || file.manifest === null) return Promise.resolve();
    // The engine may crash from here on. The start after a crash must apply users and databases again.
    // An engine runs when an end of the sleep could not be written before. It may have an earlier spec.
    const state = runner.process === null ? "awake" : "changed";
    const durable = file.change({ state, sleep: woken(file.manifest.sleep) });
    this.#isWakeRecorded = false;
    lifecycle.report({ type: "woken", isOwn: false });
    return runner.runnable?.engine.users === undefined ? Promise.resolve() : durable;
  }

  /**
   * Decides whether the engine or the gateway listens at the address, and hands the address to that side.
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
    this.publish();
  }

  /** The engine takes connections. */
  ready(): void {
    this.#parts.condition.notice("users", null);
    if (this.#latestStart === null) return;
    const { startMs } = this.#latestStart;
    this.#latestStart = { startMs, readyMs: performance.now() - this.#startedAtMs - startMs };
  }

  /**
   * The engine takes connections, and its start is complete.
   * @param isApplied whether the engine has the whole spec.
   * @param areUsersKnown whether the users cannot have changed meanwhile.
   */
  started(isApplied: boolean, areUsersKnown: boolean): void {
    const { lifecycle } = this.#parts;
    const wake = wakeOf(lifecycle.state);
    this.#idleProbe = null;
    const reason = wake?.isOwn === true ? OWN_REASON : this.#edgeUse.takeReason();
    if (wake !== null && reason !== null && this.#latestStart !== null) {
      this.#isWakeRecorded = true;
      this.#noteWake(wakeBy(reason, wake.at, this.#latestStart));
    }
    lifecycle.report({ type: "served", isApplied });
    if (!areUsersKnown && wake === null) this.refreshUsers();
  }

  /** A client of the gateway has woken the instance, unless the host knows of an earlier cause. */
  woken(lastWake: Wake): void {
    if (this.#isWakeRecorded) return;
    this.#noteWake(lastWake);
    this.#parts.condition.changed();
  }

  /**
   * Has the list of users read again and sent to the gateway.
   * @param question the question of the gateway that has its answer then, even if the list has not changed.
   */
  refreshUsers(question?: number): void {
    void this.#users.refresh(question);
  }

  /** Suspends an idle instance whose clients no gateway sees, so the host asks the edge or the engine. */
  async checkUse(): Promise<void> {
    const { file, runner, condition, log, onIdle } = this.#parts;
    const seconds = idleSecondsBeforeSleep(file.manifest);
    if (seconds === null) return condition.notice("idle-probe", null);
    const { process, runnable } = runner;
    if (condition.state !== "running" || process === null || !runnable) return;
    if (this.#edgeUse.isKnown) return this.#edgeUse.allowSleepAfter(seconds) ? onIdle() : undefined;
    try {
      const unusedSeconds = await (this.#idleProbe ??= new IdleProbe()).seconds(runnable);
      condition.notice("idle-probe", null);
      if (unusedSeconds >= seconds) onIdle();
    } catch (error) {
      // The instance stays awake until its owner acts. An engine that ends looks as if its answer were too long.
      const isTooLong = error instanceof BeyondBounds && runner.process === process;
      if (isTooLong && condition.state === "running") condition.notice("idle-probe", error.message);
      log.debug({ error }, "the engine did not report how it is used");
    }
  }

  /** Records a wake. The record is informative only, so a full disk does not fail the wake. */
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
    if (!["running", "draining"].includes(condition.state) || runner.runnable === null) return null;
    try {
      const look = await lookAtUsers(runner.runnable);
      if (look !== null) reportRestored(this.#parts, look);
      return look && look.users;
    } catch (error) {
      log.warn({ error }, "the engine did not report its users");
      return null;
    }
  }
}
