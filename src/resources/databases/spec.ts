// What the driver is asked for, for a database cluster.
import type { MysqlSpec, PostgresSpec } from "../../drivers/driver.ts";
import type { Vault } from "../../lib/secrets.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { resourcesOf } from "./resources.ts";
import type { DatabaseClusterRow } from "./store.ts";
import { protocolOf, protocols } from "./types.ts";

/** The spec. The password stays here; what verifies it is enough for the engine. */
export function specOf(cluster: DatabaseClusterRow, { vault }: { vault: Vault }): PostgresSpec | MysqlSpec {
  const password = vault.open(cluster.sealedPassword, cluster.id);
  const kind = protocolOf(cluster.type);
  const verifier = protocols[kind].verifierOf(password, cluster.id);
  return {
    kind,
    id: cluster.id,
    engines: [cluster.engineName],
    version: cluster.version,
    users: [{ name: cluster.username, verifier }],
    exposure: exposureOf(cluster),
    sleepAfterSeconds: sleepAfterSecondsOf(cluster),
    ...resourcesOf(cluster.type, cluster.config),
    databases: cluster.schemas.map(({ name, status }) => ({
      name,
      owner: cluster.username,
      wish: status === "deleting" ? "absent" : "present",
    })),
  };
}
