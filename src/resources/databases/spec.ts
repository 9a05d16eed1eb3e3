// The spec of a database cluster for the driver.
import type { MysqlSpec, PostgresSpec } from "../../contracts/instance-spec.ts";
import type { Vault } from "../../lib/secrets.ts";
import { verifiersOf } from "../shared/former-password.ts";
import { originIn } from "../shared/backups/origin.ts";
import { keepsLog } from "./backups/policy.ts";
import { maskPassword } from "./masks/password.ts";
import { adoptedIn } from "./refreshes/store.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { resourcesOf } from "./resources.ts";
import type { DatabaseClusterRow } from "./store.ts";
import { protocolOf, protocols } from "./types.ts";

/** The spec. It has the verifiers of the passwords, which are enough for the engine, and never a password itself. */
export function specOf(cluster: DatabaseClusterRow, { vault }: { vault: Vault }): PostgresSpec | MysqlSpec {
  const kind = protocolOf(cluster.type);
  const { formsOf } = protocols[kind];
  const verifiers =
    cluster.origin?.isMaskPending === true
      ? { verifier: formsOf(maskPassword(cluster.id, vault), cluster.id).verifier }
      : verifiersOf(cluster, vault, (password) => formsOf(password, cluster.id));
  return {
    kind,
    id: cluster.id,
    engines: [cluster.engineName],
    version: cluster.version,
    ...originIn(cluster.origin),
    ...adoptedIn(cluster.refresh),
    ...(keepsLog(cluster) && { keepsLog: true }),
    users: [{ name: cluster.username, ...verifiers }],
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
