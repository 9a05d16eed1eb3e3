// The wake interval of an environment: how long it sleeps at most, so that its scheduled work runs.
import type { Observation } from "../../../contracts/observation.ts";
import type { EnvironmentSettings } from "./settings.ts";

const MS_PER_MINUTE = 60_000;

/** What an environment with a wake interval needs next. */
interface NextWake {
  /** When it has to be looked at again, though nothing changed. */
  at: Date;
  /** Whether that time has come, and it sleeps. */
  isDue: boolean;
}

type WakeSettings = Pick<EnvironmentSettings, "uses_hibernation" | "hibernation_wake_up_interval">;

/**
 * Says when the next wake is due; null without a wake interval.
 * @param serving the processes that serve, as their host sees them now.
 */
export function nextWakeOf(
  { uses_hibernation: sleeps, hibernation_wake_up_interval: minutes }: WakeSettings,
  serving: readonly Pick<Observation, "state" | "sleep">[],
  nowMs: number,
): NextWake | null {
  if (!sleeps || minutes === null) return null;
  const isAsleep = serving.length > 0 && serving.every(({ state }) => state === "asleep");
  // What is awake cannot have slept for the interval before the interval has passed, so nothing has to be noted when it
  // falls asleep.
  const since = isAsleep ? serving.map(({ sleep }) => Date.parse(sleep?.since ?? "")) : [];
  const sinceMs = Math.max(...since.filter(Number.isFinite));
  const atMs = (Number.isFinite(sinceMs) ? sinceMs : nowMs) + minutes * MS_PER_MINUTE;
  return { at: new Date(atMs), isDue: atMs <= nowMs };
}
