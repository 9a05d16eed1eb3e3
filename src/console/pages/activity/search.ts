// What the address of the activity page holds, and the filter that it stands for.
import type { ActivityFilter } from "../../../sdk/index.ts";
import { type RawSearch, textIn } from "../../parts/page.tsx";

export interface ActivitySearch {
  action: string | undefined;
  kind: string | undefined;
  /** The id of a resource. */
  resource: string | undefined;
  /** Days in the time zone of the reader, such as `2026-11-23`; both belong to the time. */
  since: string | undefined;
  until: string | undefined;
}

const WORD = /^[A-Za-z_-]{1,40}$/;
const ID = /^[A-Za-z0-9-]{1,64}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

export function parseActivitySearch(raw: RawSearch): ActivitySearch {
  const matching = (name: string, pattern: RegExp) => {
    const text = textIn(raw, name);
    return text !== undefined && pattern.test(text) ? text : undefined;
  };
  return {
    action: matching("action", WORD),
    kind: matching("kind", WORD),
    resource: matching("resource", ID),
    since: matching("since", DAY),
    until: matching("until", DAY),
  };
}

export function activityFilterOf({ action, kind, resource, since, until }: ActivitySearch): ActivityFilter {
  const begin = since && startOfDay(since, 0);
  const end = until && startOfDay(until, 1);
  return {
    ...(action !== undefined && { action: [action] }),
    ...(kind !== undefined && { kind: [kind] }),
    ...(resource !== undefined && { resource: [resource] }),
    ...(begin && { since: begin }),
    ...(end && { until: end }),
  };
}

/** Midnight so many days later, where the reader is; undefined for a day that is not in the calendar. */
function startOfDay(day: string, daysLater: number): string | undefined {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const midnight = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(midnight.getTime()) ? undefined : midnight.toISOString();
}
