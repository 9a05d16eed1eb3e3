// The rows of WebSocket applications: every SQL statement about them.
import { forgetResource } from "../../../api/operation/idempotency.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { requeueEnvironmentsWith } from "../../shared/attached-environments.ts";
import { SETTINGS, type ApplicationSettings } from "./fields.ts";

/** A secret that a rotation replaced. */
export interface FormerSecret {
  sealed: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** The properties that an application gets at its creation. */
export interface ApplicationValues extends ApplicationSettings {
  id: string;
  /** The cluster of the application. */
  clusterId: string;
  key: string;
  sealedSecret: string;
}

export interface ApplicationRow extends ApplicationValues {
  /** Digits. */
  appId: string;
  /** The newest first; some may have expired. */
  formerSecrets: FormerSecret[];
  /** The environments that use it. */
  environmentIds: string[];
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** The settings of an application that a customer may change. */
export function settingsOf(application: ApplicationRow): ApplicationSettings {
  const { id: _id, clusterId: _clusterId, appId: _appId, createdAt: _createdAt, ...rest } = application;
  const {
    key: _key,
    sealedSecret: _sealed,
    formerSecrets: _former,
    environmentIds: _users,
    ...settings
  } = rest;
  return settings;
}

const CREATED_AT = `to_char(a.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Constants, safe to insert into a statement. */
const COLUMNS = SETTINGS.join(", ");
const SELECT = `
  select a.id, a.server_id as "clusterId", a.app_id as "appId", a.key, a.sealed_secret as "sealedSecret",
         a.former_secrets as "formerSecrets", ${SETTINGS.map((name) => `a.${name}`).join(", ")},
         array(select id from environments where websocket_application_id = a.id order by id) as "environmentIds",
         ${CREATED_AT} as "createdAt"
  from websocket_applications a`;

/** The applications of the cluster `r` of an outer statement, as JSON: each like an `ApplicationRow`, the oldest first. */
export const APPLICATIONS_OF_SERVER = `
  coalesce((select json_agg(t order by t.id) from (${SELECT} where a.server_id = r.id) t), '[]')`;

/** Adds an application. */
export async function insertApplication(tx: Transaction, values: ApplicationValues): Promise<ApplicationRow> {
  const { id, clusterId, key, sealedSecret, ...settings } = values;
  const [row] = await tx<{ appId: string; createdAt: string }[]>`
    insert into websocket_applications as a (id, server_id, key, sealed_secret, ${tx.unsafe(COLUMNS)})
    select ${id}, ${clusterId}, ${key}, ${sealedSecret}, ${tx.unsafe(COLUMNS)}
    from json_populate_record(null::websocket_applications, ${settings}::json)
    returning app_id as "appId", ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  return { ...values, ...row, formerSecrets: [], environmentIds: [] };
}

/** The organization's application with this id. */
export async function findApplication(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ApplicationRow | undefined> {
  const [row] = await db<ApplicationRow[]>`
    ${db.unsafe(SELECT)} join websocket_servers s on s.id = a.server_id
    where a.id = ${id} and s.organization_id = ${organizationId}`;
  return row;
}

/** A page of the cluster's applications, the oldest first, and the number of applications on all pages. */
export async function listApplications(
  db: Database,
  clusterId: string,
  page: Page,
): Promise<{ rows: ApplicationRow[]; total: number }> {
  const [rows, counted] = await Promise.all([
    db<ApplicationRow[]>`
      ${db.unsafe(SELECT)} where a.server_id = ${clusterId}
      order by a.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`
      select count(*)::int as total from websocket_applications where server_id = ${clusterId}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** Replaces the settings of an application. */
export async function updateApplication(
  tx: Transaction,
  id: string,
  settings: ApplicationSettings,
): Promise<void> {
  await tx`
    update websocket_applications
    set (${tx.unsafe(COLUMNS)}) = (
      select ${tx.unsafe(COLUMNS)} from json_populate_record(null::websocket_applications, ${settings}::json))
    where id = ${id}`;
}

/** Replaces the secrets of an application. */
export async function writeSecrets(
  tx: Transaction,
  id: string,
  { sealedSecret, formerSecrets }: Pick<ApplicationRow, "sealedSecret" | "formerSecrets">,
): Promise<void> {
  await tx`
    update websocket_applications
    set sealed_secret = ${sealedSecret}, former_secrets = ${formerSecrets}::jsonb where id = ${id}`;
}

/** Splits the cluster's connections evenly over its applications; the remainder stays unused. */
export async function splitEvenly(tx: Transaction, clusterId: string): Promise<void> {
  await tx`
    update websocket_applications
    set max_connections = s.max_connections
      / (select count(*) from websocket_applications where server_id = ${clusterId})
    from websocket_servers s where s.id = ${clusterId} and server_id = ${clusterId}`;
}

/** Removes all rows of applications; only their audit stays. */
export async function eraseApplications(tx: Transaction, ids: readonly string[]): Promise<void> {
  await requeueEnvironmentsWith(tx, "websocket_application_id", ids);
  for (const id of ids) {
    await tx`delete from websocket_applications where id = ${id}`;
    await forgetResource(tx, id);
  }
}

/** Removes all rows of a cluster's applications. */
export async function eraseApplicationsOf(tx: Transaction, clusterId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    select id from websocket_applications where server_id = ${clusterId} order by id`;
  await eraseApplications(
    tx,
    rows.map(({ id }) => id),
  );
}
