// How the sleep of a resource looks to people.
import type { CacheResource } from "../../sdk/index.ts";

/** The sleep members of a resource in the API; they are the same for all kinds that may sleep. */
export type Sleep = CacheResource["meta"]["sleep"];

/** Name and value of each property of the sleep, one a row. */
export function sleepRows({ state, since, wakes, last_wake: wake, pending }: Sleep): string[][] {
  const parts = [
    since === null ? state : `${state} since ${since}`,
    ...(wakes === 0 ? [] : [`woken ${wakes === 1 ? "once" : `${wakes} times`}`]),
    ...(pending ? ["a change of it takes effect when the engine stops next"] : []),
  ];
  if (wake === null) return [["Sleep", parts.join(", ")]];
  return [
    ["Sleep", parts.join(", ")],
    ["Last wake", `${wake.at}, ${reasonText(wake)}`],
    ["Wake took", spansText(wake.spans_ms)],
  ];
}

function reasonText({ reason }: NonNullable<Sleep["last_wake"]>): string {
  const { user, database, application, address } = reason;
  const parts = [
    address === null ? `by ${user}` : `by ${user} from ${address}`,
    ...(database === null ? [] : [`database ${database}`]),
    ...(application === null ? [] : [`application ${application}`]),
  ];
  return parts.join(", ");
}

function spansText(spans: NonNullable<Sleep["last_wake"]>["spans_ms"]): string {
  const entries = Object.entries(spans);
  const total = entries.reduce((sum, [, ms]) => sum + ms, 0);
  return `${msText(total)} (${entries.map(([name, ms]) => `${name} ${msText(ms)}`).join(", ")})`;
}

function msText(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}
