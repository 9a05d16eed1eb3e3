// The commands about database clusters.
import type { Command } from "commander";
import type { PilviClient, RotationOptions } from "../../sdk/index.ts";
import { type Session, withExamples } from "../session.ts";
import { addDelete } from "../shared/delete.ts";
import { addList } from "../shared/list.ts";
import { addMetrics } from "../shared/metrics.ts";
import { addRotate } from "../shared/rotate.ts";
import { addShow } from "../shared/show.ts";
import { addSnapshots } from "../shared/snapshots.ts";
import { addSuspend } from "../shared/suspend.ts";
import { addTypes } from "../shared/types.ts";
import { databaseClients } from "./clients.ts";
import { addCreate } from "./create.ts";
import { clusterKind } from "./kind.ts";
import { addOpen } from "./open.ts";
import { addQuery } from "./query.ts";
import { addCancel, addQueries } from "./queries.ts";
import { addRestores } from "./restore.ts";
import { addSchemas } from "./schemas.ts";
import { addStatements } from "./statements.ts";
import { databaseTypes } from "./types.ts";
import { addUpdate } from "./update.ts";

/** Adds `databases` with its commands. */
export function addDatabases(program: Command, session: Session): void {
  const databases = program
    .command("databases")
    .description("create, list, show, change, open, put to sleep and delete database clusters");
  addCreate(databases, session);
  addList(databases, session, clusterKind, [
    "pilvi databases list",
    "pilvi databases list --type platform_mysql,provider_managed_mysql --status available",
    "pilvi databases list --json | jq -r '.data[].id'",
  ]);
  addShow(databases, session, clusterKind, [
    "pilvi databases show orders",
    "pilvi databases show orders --json | jq .data.attributes.connection",
    "pilvi databases show db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --wait",
  ]);
  addUpdate(databases, session);
  addSuspend(databases, session, clusterKind, (client, id) => client.databases.suspend(id), [
    "pilvi databases suspend orders",
    "pilvi databases suspend orders --json | jq .data.meta.sleep",
  ]);
  addMetrics(databases, session, clusterKind, (client, ...asked) => client.databases.metrics(...asked), [
    "pilvi databases metrics orders",
    "pilvi databases metrics orders --period 7d --json | jq .data.cpu_usage",
  ]);
  const rotation = {
    rotate: (client: PilviClient, id: string, options: RotationOptions) =>
      client.databases.rotateCredentials(id, options),
    endGrace: (client: PilviClient, id: string) => client.databases.endGrace(id),
  };
  addRotate(databases, session, clusterKind, rotation, "orders");
  addQueries(databases, session);
  addCancel(databases, session);
  addStatements(databases, session);
  addDelete(databases, session, clusterKind, [
    "pilvi databases delete orders",
    "pilvi databases delete orders --yes --wait",
  ]);
  addTypes(databases, session, databaseTypes);
  addSchemas(databases, session);
  addSnapshots(databases, session, {
    kind: clusterKind,
    requests: (client) => client.databases.snapshots,
    example: "orders",
  });
  addRestores(databases, session);
  addQuery(databases, session);
  for (const client of Object.values(databaseClients)) addOpen(databases, session, client);
  withExamples(databases, ["pilvi databases create orders --wait", "pilvi databases psql orders"]);
}
