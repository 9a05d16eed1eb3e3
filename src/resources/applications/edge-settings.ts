// Has environments follow the settings of the edge, which only a start of Pilvi changes.
import type { EdgeSettings } from "../../lib/edge-settings.ts";
import type { Database } from "../../store/database.ts";
import { enqueueEnvironment } from "./work.ts";

/**
 * Queues all environments of a host whose edge has other settings than before: its ports are those of the edge, and their
 * addresses are among the variables of processes. An environment that sleeps would not be looked at otherwise.
 */
export async function followEdgeSettings(
  db: Database,
  hostId: string,
  { domain, httpPort, httpsPort }: EdgeSettings,
): Promise<void> {
  const settings = JSON.stringify({ domain, httpPort, httpsPort });
  await db.begin(async (tx) => {
    const changed = await tx`
      update hosts set edge_settings = ${settings}::text
      where id = ${hostId} and edge_settings is distinct from ${settings}::text returning id`;
    if (changed.length === 0) return;
    const environments = await tx<{ id: string }[]>`
      select e.id from environments e join applications a on a.id = e.application_id
      where a.host_id = ${hostId} order by e.id`;
    for (const { id } of environments) await enqueueEnvironment(tx, { id, hostId });
  });
}
