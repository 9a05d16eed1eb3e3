// The Prometheus metrics of read replicas, read from memory: a scrape asks no engine.
import type { FigureSource } from "../../../api/http/metrics.ts";
import type { KindContext } from "../../kind.ts";
import { REPLICAS } from "./store.ts";

const NAME = "pilvi_replica_lag_seconds";

/** How far the replicas of all clusters are behind, or of those of an organization. */
export const replicaGauges: FigureSource<KindContext> = {
  families: [
    {
      name: NAME,
      help: "The age of the oldest change that a read replica does not show.",
      type: "gauge",
      labels: ["kind", "id", "replica"],
      idLabels: ["id", "replica"],
      isNeverSummed: true,
    },
  ],
  async read({ db, hosts }, organizationId) {
    const seen = hosts.all.flatMap(({ observedStates }) => [...observedStates.all()]);
    const lags = new Map(
      seen.flatMap(({ id, replica }) => (replica === undefined ? [] : [[id, replica.lagSeconds]])),
    );
    if (lags.size === 0) return [];
    const rows = await db<{ id: string; clusterId: string }[]>`
      select i.id, i.resource_id as "clusterId" from instances i join databases d on d.id = i.resource_id
      where i.kind = ${REPLICAS} and (${organizationId ?? null}::text is null or d.organization_id = ${organizationId ?? null})`;
    return rows.flatMap(({ id, clusterId }) => {
      const value = lags.get(id) ?? null;
      return value === null
        ? []
        : [{ name: NAME, labels: { kind: "databases", id: clusterId, replica: id }, value }];
    });
  },
};
