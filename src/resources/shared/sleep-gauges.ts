// The Prometheus metrics of sleep, read from memory: a scrape wakes no instance.
import type { FigureFamily, FigureSource, LabelledFigure } from "../../api/http/metrics.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Database } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { kindOfId, type InstanceKind } from "./instance-kinds.ts";

/** The kinds that may sleep. */
const KINDS: readonly InstanceKind[] = ["caches", "databases"];

const SLEEPING: FigureFamily = {
  name: "pilvi_sleeping",
  help: "Caches and database clusters that sleep.",
  type: "gauge",
  labels: ["kind"],
  idLabels: [],
};

const WAKES: FigureFamily = {
  name: "pilvi_wakes_total",
  help: "How often a cache or database cluster was woken.",
  type: "counter",
  labels: ["kind", "id"],
  idLabels: ["id"],
};

const LAST_WAKE: FigureFamily = {
  name: "pilvi_last_wake_seconds",
  help: "How long the parts of the last wake took, for the client that caused it.",
  type: "gauge",
  labels: ["kind", "id", "span"],
  idLabels: ["id"],
  isNeverSummed: true,
};

/** The metrics of all instances that may sleep, by their last observed state. */
export const sleepGauges: FigureSource<KindContext> = {
  families: [SLEEPING, WAKES, LAST_WAKE],
  async read({ hosts, db }, organizationId) {
    const all = hosts.all.flatMap(({ observedStates }) => [...observedStates.all()]);
    const observed = organizationId === undefined ? all : await ofOrganization(db, organizationId, all);
    const reported: LabelledFigure[] = [];
    const sleeping: Record<string, number> = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
    for (const seen of observed.sort(byLastWake)) {
      const kind = kindOfId(seen.id);
      if (kind === undefined || !KINDS.includes(kind)) continue;
      if (seen.state === "asleep") sleeping[kind] = (sleeping[kind] ?? 0) + 1;
      reported.push(...figuresOf(kind, seen));
    }
    const counts = Object.entries(sleeping);
    return [
      ...reported,
      ...counts.map(([kind, value]) => ({ name: SLEEPING.name, labels: { kind }, value })),
    ];
  },
};

/** The instances of an organization, among many more of other organizations. */
async function ofOrganization(
  db: Database,
  organizationId: string,
  observed: readonly Observation[],
): Promise<Observation[]> {
  const ids = observed.map(({ id }) => id);
  const rows = await db<{ id: string }[]>`
    select resource_id as id from allocations
    where resource_id = any(${db.array(ids, "text")}) and organization_id = ${organizationId}`;
  const own = new Set(rows.map(({ id }) => id));
  return observed.filter(({ id }) => own.has(id));
}

/** The instances that were woken last come first, and fill the limited number of series. */
function byLastWake(one: Observation, other: Observation): number {
  return (other.sleep?.lastWake?.at ?? "").localeCompare(one.sleep?.lastWake?.at ?? "");
}

function figuresOf(kind: InstanceKind, { id, sleep }: Observation): LabelledFigure[] {
  if (sleep === null) return [];
  const spans = Object.entries(sleep.lastWake?.spansMs ?? {});
  return [
    { name: WAKES.name, labels: { kind, id }, value: sleep.wakes },
    ...spans.map(([span, ms]) => ({
      name: LAST_WAKE.name,
      labels: { kind, id, span },
      value: ms / 1000,
    })),
  ];
}
