// The stage of a refresh: an instance beside the clone, in which the new data is made before the clone takes it over.
import type { MysqlSpec, PostgresSpec } from "../../../contracts/instance-spec.ts";
import type { KindContext } from "../../kind.ts";
import { loginOf, type DatabaseClusterLogin } from "../login.ts";
import { maskPassword } from "../masks/password.ts";
import { specOf } from "../spec.ts";
import type { DatabaseClusterRow } from "../store.ts";
import { protocolOf, protocols } from "../types.ts";
import type { SideInstance } from "../side-instances.ts";
import type { StoredRefresh } from "./store.ts";

/** The stages are reached on this machine alone. */
const SCOPE = "loopback";

/** The spec: as the clone's, with the data of the refresh and a password that nobody knows. */
export function stageSpecOf(
  cluster: DatabaseClusterRow,
  { id, from, databases }: StoredRefresh,
  { port }: SideInstance,
  { vault }: Pick<KindContext, "vault">,
): PostgresSpec | MysqlSpec {
  const { adopts: _adopts, keepsLog: _keepsLog, ...spec } = specOf({ ...cluster, schemas: [] }, { vault });
  const { verifier } = protocols[protocolOf(cluster.type)].formsOf(maskPassword(id, vault), id);
  const owner = cluster.username;
  return {
    ...spec,
    id,
    origin: from,
    users: [{ name: owner, verifier }],
    exposure: { port, scope: SCOPE, through: "gateway" },
    sleepAfterSeconds: null,
    databases: databases.map((name) => ({ name, owner, desiredState: "present" })),
  };
}

/** The login at a stage, without a database. */
export function stageLoginOf(
  cluster: DatabaseClusterRow,
  { id, port }: SideInstance,
  context: KindContext,
): Omit<DatabaseClusterLogin, "database"> {
  const { vault, hosts } = context;
  const hostname = hosts.of(cluster.hostId).hostnames[SCOPE];
  return { ...loginOf(cluster, context), hostname, isPublic: false, port, password: maskPassword(id, vault) };
}
