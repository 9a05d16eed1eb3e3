// What HAProxy counts of each route: the rules that count, and how the table of routes shows the counts.
import { answerNames, type CountedRoute } from "../../contracts/readings.ts";
import type { RouteUse } from "../edge.ts";
import { USE_MEMORY_MS } from "../edge.ts";

/** The counter of requests that are not logged; those of answers follow. */
const UNLOGGED = 0;

/** Statuses of answers in the order of `answerNames`. */
const STATUSES = ["lt 300", "300:399", "400:499", "ge 500"];

/** The counter of requests that no rule has refused. */
const ADMITTED = 1 + answerNames.length;

/** The counter of answers that are marked for caches that many clients share. */
const MARKED_ANSWERS = 1 + ADMITTED;

/** What the table has of each route: `gpt0` is the second in which HAProxy began to count. */
export const COUNTED = `conn_cur,http_req_rate(1s),gpt0,gpc(${1 + MARKED_ANSWERS})`;

/** Counts a request that is not logged. */
export const countUnlogged = `http-request sc-inc-gpc(${UNLOGGED},1)`;

/** Counts a request that no rule has refused. */
export const countAdmitted = `http-request sc-inc-gpc(${ADMITTED},1)`;

/** Counts a marked answer, and says how many there were. */
export const MARKED = {
  count: `sc-inc-gpc(${MARKED_ANSWERS},1)`,
  counted: `sc_get_gpc(${MARKED_ANSWERS},1)`,
} as const;

/** Notes when the edge began to count a route. */
export const countSince = "http-request sc-set-gpt0(1) date if { sc1_get_gpt0 eq 0 }";

/**
 * Counts answers, those of the edge itself too. Each is counted here rather than by its line: no flood and no absence of
 * the host leaves any out. The action that counts exists from HAProxy 2.8 on, the expression before. No other rule for
 * answers may follow.
 */
export function answerRules(): string[] {
  return STATUSES.map(
    // The condition counts when HAProxy evaluates it. The action ends the rules, so most answers meet the first alone.
    (statuses, index) =>
      `http-after-response allow if { status ${statuses} } { sc_inc_gpc(${1 + index},1) ge 0 }`,
  );
}

/** The route of a line of the table, and its use; null for any other line. */
export function useIn(line: string): [route: string, use: RouteUse] | null {
  const [, route] = / key=(\S+) /.exec(line) ?? [];
  if (route === undefined) return null;
  const values = new Map(Array.from(line.matchAll(VALUE), ([, name = "", value]) => [name, Number(value)]));
  const valueOf = (name: string) => values.get(name) ?? 0;
  const use = {
    openRequests: valueOf("conn_cur"),
    idleMs: Math.max(0, USE_MEMORY_MS - valueOf("exp")),
    unlogged: valueOf(`gpc${UNLOGGED}`),
    admitted: values.get(`gpc${ADMITTED}`) ?? null,
    counted: countedIn(values),
  };
  return [route, use];
}

const VALUE = / (\w+)=(\d+)(?= |$)/g;

function countedIn(values: ReadonlyMap<string, number>): CountedRoute | null {
  const since = values.get("gpt0") ?? 0;
  const answers = answerNames.map((_, index) => values.get(`gpc${1 + index}`) ?? 0);
  return since === 0 ? null : { since, answers };
}
