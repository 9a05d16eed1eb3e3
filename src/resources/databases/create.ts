// Creates a database cluster, with its default database where there is to be one.
import { invalid } from "../../api/errors.ts";
import type { OperationRequest } from "../../api/operation.ts";
import type { Offer } from "../../drivers/driver.ts";
import { newId } from "../../lib/ids.ts";
import type { KindContext } from "../kind.ts";
import { createInstance, newLogin } from "../shared/create.ts";
import { allocationFieldsOf, allocationOf } from "./allocation.ts";
import { configVariants } from "./configs/index.ts";
import { chooseEngine, engineFaults } from "./engines.ts";
import type { NewDatabase } from "./schema.ts";
import { insertSchema } from "./schemas/store.ts";
import { findDatabase, insertDatabase, type DatabaseRow } from "./store.ts";

const DEFAULT_SCHEMA = "main";

/** Makes the cluster that was asked for, or finds the one that the same Idempotency-Key made before. */
export async function createDatabase(
  context: KindContext,
  request: OperationRequest<NewDatabase>,
  offer: Offer,
): Promise<{ row: DatabaseRow; isReplayed: boolean }> {
  const { type, version, config, create_default_database: hasDefault } = request.body;
  const engine = chooseEngine(type, version, offer);
  // The check found one a moment ago, but an operator may have removed it since.
  if (engine === undefined) throw invalid(engineFaults(type, version, offer));
  const completeConfig = configVariants[type].complete(config ?? {});
  return await createInstance<DatabaseRow>(context, request, {
    kind: "databases",
    prefix: "db",
    async insert(tx, values) {
      const row = await insertDatabase(tx, {
        ...values,
        ...newLogin(context, values.id),
        type,
        engineName: engine.name,
        version: engine.version,
        config: completeConfig,
      });
      if (!hasDefault) return row;
      const schema = await insertSchema(tx, {
        id: newId("schema"),
        databaseId: row.id,
        name: DEFAULT_SCHEMA,
      });
      return { ...row, schemas: schema === undefined ? [] : [schema] };
    },
    find: findDatabase,
    allocationOf,
    allocationFields: allocationFieldsOf(completeConfig),
  });
}
