// The lifecycle of an instance as a pure function: an event leads to the next state and to effects.
import { afterCrash, afterFailure, delayOf, NO_FAILURE, type BackOff, type Moment } from "./back-off.ts";
import { stateAfter, type Report } from "./reports.ts";
import { observedState, targetOf, type Happening, type State, type StateName } from "./state.ts";

/**
 * The demands that callers make of an instance; `resume` goes on from the persisted state. `close` stops it until the host
 * starts anew, `end` until it is ordered to run again.
 */
export type Demand =
  | "ensure"
  | "wake"
  | "suspend"
  | "idle"
  | "restart"
  | "remove"
  | "resume"
  | "close"
  | "end";

/** The number of a caller that waits for an answer. */
export type Ticket = number;

/** A demand that waits or is under way. One task is under way at a time, in the order of the demands. */
interface Task {
  demand: Demand;
  tickets: readonly Ticket[];
  askedAtMs: number;
  /** Whether the instance is to be suspended afterwards, because an earlier host had begun to suspend it. */
  isSuspendDue?: boolean;
}

/** The whole state of an instance's life. */
export interface Lifecycle {
  state: State;
  /** The time of the latest change of the observed state. */
  since: Date;
  task: Task | null;
  queue: readonly Task[];
  /** Whether the engine is to be stopped or let go for good, so that no task may begin it anew. */
  isLeaving: boolean;
  backOff: BackOff;
}

export type LifecycleEvent =
  | Report
  | { type: "asked"; demand: Demand; ticket?: Ticket }
  /** The timer of the next start has expired. */
  | { type: "due" }
  /** The host lets go of the instance. */
  | { type: "released" }
  /** A part of the current task has ended. */
  | { type: "recordEnded"; error?: unknown }
  | { type: "recoveryEnded"; isSuspendDue: boolean }
  | { type: "startEnded"; error?: unknown }
  | { type: "taskEnded"; error?: unknown };

/** The reason why a demand is refused. */
export type RefusalReason = "unusable" | "beingRemoved" | "beingStopped" | "notRunning";

export type Effect =
  | { do: "record"; ticket: Ticket }
  | { do: "recover" }
  /** @param askedAtMs when a client asked for the start; null leaves a sleeping instance asleep. */
  | { do: "start"; delayMs: number; askedAtMs: number | null }
  | { do: "conclude"; ticket: Ticket }
  | { do: "suspend"; isIdle: boolean }
  /** @param isFinal whether later hosts do not start it again. */
  | { do: "stop"; isFinal: boolean }
  | { do: "remove" }
  | { do: "answer"; tickets: readonly Ticket[]; error?: unknown }
  | { do: "refuse"; tickets: readonly Ticket[]; reason: RefusalReason }
  | { do: "setTimer"; delayMs: number }
  | { do: "clearTimer" }
  /** Aborts a suspension that is under way, as far as it may be aborted. */
  | { do: "interrupt" }
  | { do: "leave" }
  | { do: "kill" };

export interface Step {
  lifecycle: Lifecycle;
  effects: Effect[];
}

/** The lifecycle of an unknown instance. */
export function newLifecycle(since: Date): Lifecycle {
  const state = { name: "absent" } as const;
  return { state, since, task: null, queue: [], isLeaving: false, backOff: NO_FAILURE };
}

/** The step that follows from an event. */
export function next(lifecycle: Lifecycle, event: LifecycleEvent, now: Moment): Step {
  return withNextTask(reaction(lifecycle, event, now), now);
}

function reaction(lifecycle: Lifecycle, event: LifecycleEvent, now: Moment): Step {
  const { task } = lifecycle;
  switch (event.type) {
    case "asked":
      return asked(lifecycle, event.demand, event.ticket, now);
    case "due":
      return queued(lifecycle, "restart", undefined, now);
    case "released":
      return left(lifecycle);
    case "recordEnded":
      return event.error === undefined ? begun(lifecycle, now) : ended(lifecycle, event.error);
    case "recoveryEnded":
      if (task === null) return { lifecycle, effects: [] };
      return begun({ ...lifecycle, task: { ...task, isSuspendDue: event.isSuspendDue } }, now);
    case "startEnded":
      return afterStart(lifecycle);
    case "taskEnded":
      return ended(lifecycle, event.error);
    default:
      return reported(lifecycle, event, now);
  }
}

function asked(lifecycle: Lifecycle, demand: Demand, ticket: Ticket | undefined, now: Moment): Step {
  const { lifecycle: after, effects } = queued(lifecycle, demand, ticket, now);
  if (demand === "wake") return { lifecycle: after, effects: [...effects, { do: "interrupt" }] };
  if (demand !== "remove" && demand !== "close" && demand !== "end") return { lifecycle: after, effects };
  const leave = left(after);
  const kill: Effect[] = demand === "remove" ? [{ do: "kill" }] : [];
  return { lifecycle: leave.lifecycle, effects: [...leave.effects, ...kill] };
}

/** Queues a demand. Repeated wakes and idle reports count once; callers join a suspension until its end. */
function queued(lifecycle: Lifecycle, demand: Demand, ticket: Ticket | undefined, now: Moment): Step {
  const { task, queue } = lifecycle;
  const tickets = ticket === undefined ? [] : [ticket];
  const isShared = demand === "wake" || demand === "idle" || demand === "suspend";
  const joined = (each: Task): Task =>
    each.demand === demand ? { ...each, tickets: [...each.tickets, ...tickets] } : each;
  if (demand === "suspend" && task?.demand === "suspend")
    return { lifecycle: { ...lifecycle, task: joined(task) }, effects: [] };
  if (isShared && queue.some((each) => each.demand === demand))
    return { lifecycle: { ...lifecycle, queue: queue.map(joined) }, effects: [] };
  return {
    lifecycle: { ...lifecycle, queue: [...queue, { demand, tickets, askedAtMs: now.ms }] },
    effects: [],
  };
}

function left(lifecycle: Lifecycle): Step {
  const backOff = { ...lifecycle.backOff, dueAtMs: null };
  return {
    lifecycle: { ...lifecycle, isLeaving: true, backOff },
    effects: [{ do: "clearTimer" }, { do: "leave" }, { do: "interrupt" }],
  };
}

/** Begins tasks until one is under way or the queue is empty. */
function withNextTask(step: Step, now: Moment): Step {
  let { lifecycle } = step;
  const effects = [...step.effects];
  for (;;) {
    const [task, ...queue] = lifecycle.queue;
    if (lifecycle.task !== null || task === undefined) return { lifecycle, effects };
    const taken = taskBegun({ ...lifecycle, task, queue }, task, now);
    ({ lifecycle } = taken);
    effects.push(...taken.effects);
  }
}

function taskBegun(lifecycle: Lifecycle, task: Task, now: Moment): Step {
  const { state, isLeaving } = lifecycle;
  const [ticket = 0] = task.tickets;
  switch (task.demand) {
    case "ensure":
      if (state.name === "unusable") return refused(lifecycle, task, "unusable");
      if (state.name === "removing") return refused(lifecycle, task, "beingRemoved");
      if (state.name === "absent" && isLeaving) return refused(lifecycle, task, "beingStopped");
      return { lifecycle, effects: [{ do: "record", ticket }] };
    case "suspend":
    case "idle":
      if (isLeaving) return refused(lifecycle, task, "beingStopped");
      if (state.name === "asleep") return ended(lifecycle);
      if (state.name !== "running") return refused(lifecycle, task, "notRunning");
      return { lifecycle, effects: [{ do: "suspend", isIdle: task.demand === "idle" }] };
    case "resume":
      if (state.name === "ended") return endingOn(lifecycle, task);
      if (isLeaving || (state.name !== "asleep" && state.name !== "recovering")) return begun(lifecycle, now);
      return { lifecycle, effects: [{ do: "recover" }] };
    case "wake":
    case "restart":
      return begun(lifecycle, now);
    case "remove":
      return { lifecycle, effects: [{ do: "remove" }] };
    case "close":
    case "end":
      return { lifecycle, effects: [{ do: "stop", isFinal: task.demand === "end" }] };
  }
}

/** Goes on with an end that an earlier host has begun. It may take long, so nobody waits for it. */
function endingOn(lifecycle: Lifecycle, task: Task): Step {
  const answer: Effect[] = task.tickets.length === 0 ? [] : [{ do: "answer", tickets: task.tickets }];
  return {
    lifecycle: { ...lifecycle, task: { ...task, tickets: [] } },
    effects: [...answer, { do: "stop", isFinal: true }],
  };
}

/** Starts the engine, unless the start is due later or must not happen. */
function begun(lifecycle: Lifecycle, now: Moment): Step {
  const { state, task, isLeaving, backOff } = lifecycle;
  const isWake = task?.demand === "wake";
  const isStartable = !isLeaving && !["absent", "unusable", "ended", "removing"].includes(state.name);
  const delayMs = isStartable ? delayOf(backOff, isWake, now.ms) : null;
  if (delayMs === null) return afterStart(lifecycle);
  const askedAtMs = isWake ? task.askedAtMs : null;
  return {
    lifecycle: { ...lifecycle, backOff: { ...backOff, dueAtMs: null } },
    effects: [{ do: "clearTimer" }, { do: "start", delayMs, askedAtMs }],
  };
}

function afterStart(lifecycle: Lifecycle): Step {
  const { task } = lifecycle;
  if (task?.demand !== "ensure") return ended(lifecycle);
  const [ticket = 0] = task.tickets;
  return { lifecycle, effects: [{ do: "conclude", ticket }] };
}

function ended(lifecycle: Lifecycle, error?: unknown): Step {
  const { task, queue } = lifecycle;
  if (task === null) return { lifecycle, effects: [] };
  const idle: Task = { demand: "idle", tickets: [], askedAtMs: task.askedAtMs };
  return {
    lifecycle: { ...lifecycle, task: null, queue: task.isSuspendDue === true ? [idle, ...queue] : queue },
    effects: task.tickets.length === 0 ? [] : [{ do: "answer", tickets: task.tickets, error }],
  };
}

function refused(lifecycle: Lifecycle, { tickets }: Task, reason: RefusalReason): Step {
  const effects: Effect[] = tickets.length === 0 ? [] : [{ do: "refuse", tickets, reason }];
  return { lifecycle: { ...lifecycle, task: null }, effects };
}

/** Failures that lead to another start, except while the host leaves. */
const MADE_UP_FOR = new Set<Happening>(["exited", "engineLost", "startFailed", "kept", "displaced"]);

function reported(lifecycle: Lifecycle, event: Report, now: Moment): Step {
  const { state, since, isLeaving } = lifecycle;
  if (isLeaving && MADE_UP_FOR.has(event.type)) return { lifecycle, effects: [] };
  const to = targetOf(state.name, event.type) ?? state.name;
  const entered = stateAfter(state, to, event, now);
  const isSeen = observedState(entered) !== observedState(state);
  const after = { ...lifecycle, state: entered, since: isSeen ? now.date : since };
  // What has fallen asleep has served before, so the failures before that are over.
  if (event.type === "suspended") after.backOff = { ...after.backOff, failures: 0 };
  if (event.type === "recorded") {
    const backOff = { ...after.backOff, dueAtMs: null };
    return { lifecycle: { ...after, backOff }, effects: [{ do: "clearTimer" }] };
  }
  const backOff = backOffAfter(lifecycle, event, to, now);
  if (backOff === null) return { lifecycle: after, effects: [] };
  const delayMs = (backOff.dueAtMs ?? now.ms) - now.ms;
  return { lifecycle: { ...after, backOff }, effects: [{ do: "setTimer", delayMs }] };
}

/** The restart policy after a report; null when the report calls for no start. */
function backOffAfter(
  { state, since, backOff }: Lifecycle,
  { type }: Report,
  to: StateName,
  now: Moment,
): BackOff | null {
  if (type === "startFailed" || type === "kept" || type === "displaced") return afterFailure(backOff, now);
  if (to !== "crashed" || state.name === "crashed") return null;
  if (type === "engineLost") return afterFailure(backOff, now);
  return afterCrash(backOff, now.date.getTime() - since.getTime(), now);
}
