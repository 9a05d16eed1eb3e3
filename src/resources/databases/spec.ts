// The spec of a database cluster for the driver.
import type { MysqlSpec, PostgresSpec } from "../../contracts/instance-spec.ts";
import type { Vault } from "../../lib/secrets.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { resourcesOf } from "./resources.ts";
import type { DatabaseClusterRow } from "./store.ts";
import { protocolOf, protocols } from "./types.ts";

/** The spec. It has the verifier of the password, which is enough for the engine, and never the password itself. */
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
      desiredState: status === "deleting" ? "absent" : "present",
    })),
  };
}
