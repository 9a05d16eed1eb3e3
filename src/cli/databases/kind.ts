// The properties of database clusters, and of the databases in a cluster, for the commands that all kinds share.
import type { DatabaseClusterDocument, DatabaseDocument } from "../../sdk/index.ts";
import { addressOf } from "../shared/connection.ts";
import { engineText } from "../shared/details.ts";
import type { ShownKind } from "../shared/kind.ts";
import { table } from "../table.ts";
import { detailsText, tryText } from "./text.ts";

export const clusterKind: ShownKind<DatabaseClusterDocument> = {
  group: "databases",
  noun: "database cluster",
  plural: "database clusters",
  idPattern: /^db-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  include: ["databases"],
  showCommand: (id) => `pilvi databases show ${id}`,
  waitAgain: (id) => `pilvi databases show ${id} --wait`,
  requests: (client) => client.databases,
  columns: ["NAME", "STATUS", "SLEEP", "TYPE", "ENGINE", "REGION", "ADDRESS", "ID"],
  cells({ id, attributes: { name, status, type, region, connection }, meta }) {
    const { sleep, engine } = meta;
    return [name, status, sleep.state, type, engineText(engine), region, addressOf(connection), id];
  },
  details: detailsText,
  firstTry: tryText,
};

/** The databases in the cluster with this id. */
export function databaseKind(clusterId: string): ShownKind<DatabaseDocument> {
  const list = `pilvi databases schemas list ${clusterId}`;
  return {
    group: "databases schemas",
    noun: "database",
    plural: "databases",
    idPattern: /^schema-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    showCommand: () => list,
    requests: (client) => client.databases.schemas(clusterId),
    columns: ["NAME", "STATUS", "CREATED", "ID"],
    cells: ({ id, attributes: { name, status, created_at: createdAt } }) => [name, status, createdAt, id],
    details({ data: { id, attributes } }) {
      return table([
        ["Name", attributes.name],
        ["Id", id],
        ["Status", attributes.status],
        ["Created", attributes.created_at],
      ]);
    },
    firstTry: () => "",
  };
}
