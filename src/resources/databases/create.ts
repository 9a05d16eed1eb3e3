// Creates a database cluster, with its default database unless the request leaves it out.
import { invalid } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { Offer } from "../../contracts/host-answers.ts";
import { newId } from "../../lib/ids.ts";
import type { KindContext } from "../kind.ts";
import { ensureArchive } from "../shared/backups/archives.ts";
import { refuseExcessPorts } from "../shared/port-quota.ts";
import { createInstance, newLogin } from "../shared/create.ts";
import { allocationFieldsOf, allocationOf, REPLICAS_FIELD } from "./allocation.ts";
import { configVariants } from "./configs/index.ts";
import { policyOf, sourceOf } from "./backups/policy.ts";
import { chooseEngine, engineFaults } from "./engines.ts";
import { replicaCountOf } from "./replicas/count.ts";
import type { NewDatabaseCluster } from "./schema.ts";
import { insertDatabase } from "./schemas/store.ts";
import { findDatabaseCluster, insertDatabaseCluster, type DatabaseClusterRow } from "./store.ts";

const DEFAULT_SCHEMA = "main";

/** Creates the requested cluster, or finds the cluster that the same Idempotency-Key created before. */
export async function createDatabaseCluster(
  context: KindContext,
  request: OperationRequest<NewDatabaseCluster>,
  offer: Offer,
): Promise<{ row: DatabaseClusterRow; isReplayed: boolean }> {
  const { type, version, config, create_default_database: hasDefault } = request.body;
  const engine = chooseEngine(type, version, offer);
  // The check found an engine, but an operator may have removed the engine since.
  if (engine === undefined) throw invalid(engineFaults(type, version, offer));
  const completeConfig = configVariants[type].complete(config ?? {});
  return await createInstance<DatabaseClusterRow>(context, request, {
    kind: "databases",
    async insert(tx, values) {
      const row = await insertDatabaseCluster(tx, {
        ...values,
        ...newLogin(context, values.id),
        type,
        engineName: engine.name,
        version: engine.version,
        config: completeConfig,
        origin: null,
      });
      const replicas = { wanted: replicaCountOf(row), field: REPLICAS_FIELD };
      await refuseExcessPorts(tx, context.quotas, row, replicas);
      if (policyOf(row) !== null)
        await ensureArchive(tx, { ...row, kind: "databases", source: sourceOf(row) });
      if (!hasDefault) return row;
      const schema = await insertDatabase(tx, {
        id: newId("schema"),
        databaseId: row.id,
        name: DEFAULT_SCHEMA,
      });
      return { ...row, schemas: schema === undefined ? [] : [schema] };
    },
    find: findDatabaseCluster,
    allocationOf,
    allocationFields: allocationFieldsOf(completeConfig),
  });
}
