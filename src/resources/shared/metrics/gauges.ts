// The Prometheus metrics of instances, of the last whole minute in the store: a scrape asks no engine.
import type { FigureFamily, FigureSource, LabelledFigure } from "../../../api/http/metrics.ts";
import type { KindContext } from "../../kind.ts";

/** An instance whose last minute is older does not run. */
const RECENT_SECONDS = 150;

interface Row {
  kind: string;
  id: string;
  isAwake: boolean;
  processors: number | null;
  memory: number | null;
  storage: number | null;
  connections: number | null;
  gatewayConnections: number | null;
}

const FAMILIES = {
  processors: family("processors", "Processors that a running instance used in its last minute."),
  memory: family("memory_bytes", "Memory of all processes of a running instance."),
  storage: family("storage_bytes", "Disk use of a running instance."),
  connections: family("connections", "Connections to the engine of a running cache or database cluster."),
  gatewayConnections: family(
    "gateway_connections",
    "Clients of a cache or database cluster that have logged in at the gateway, also while it sleeps.",
  ),
} as const;

type FigureName = keyof typeof FAMILIES;

const ALL = Object.keys(FAMILIES) as FigureName[];
/** What an instance has that sleeps. */
const ASLEEP: FigureName[] = ["gatewayConnections"];

function family(name: string, help: string): FigureFamily {
  return { name: `pilvi_instance_${name}`, help, type: "gauge", labels: ["kind", "id"], idLabels: ["id"] };
}

/** The gauges of all running instances, or of those of an organization. */
export const instanceGauges: FigureSource<KindContext> = {
  families: Object.values(FAMILIES),
  async read({ db }, organizationId): Promise<LabelledFigure[]> {
    const rows = await db<Row[]>`
      select distinct on (m.resource_id) a.kind, m.resource_id as id, m.awake_ms > 0 as "isAwake", m.cpu_ms / 60000 as processors,
             m.memory_bytes as memory, m.storage_bytes as storage, m.connections,
             m.gateway_connections as "gatewayConnections"
      from metrics_minutes m join allocations a using (resource_id)
      where m.at > now() - make_interval(secs => ${RECENT_SECONDS})
        and (${organizationId ?? null}::text is null or a.organization_id = ${organizationId ?? null})
      order by m.resource_id, m.at desc`;
    return rows.flatMap(({ kind, id, isAwake, ...figures }) =>
      (isAwake ? ALL : ASLEEP).flatMap((figure) => {
        const value = figures[figure];
        return value === null ? [] : [{ name: FAMILIES[figure].name, labels: { kind, id }, value }];
      }),
    );
  },
};
