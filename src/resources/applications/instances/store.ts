// The rows of the instances of environments: every SQL statement about them.
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { among, type ListFilter } from "../../shared/lists.ts";
import { momentSql } from "../../shared/moments.ts";

/** What a customer can set. */
export interface InstanceSettings {
  /** The name of a size. */
  size: string;
  /** How many of it run; left out by instances that were never scaled, which have one. */
  replicas?: number;
}

/** An instance: the processes of an environment that are sized together. */
export interface InstanceRow {
  id: string;
  environmentId: string;
  name: string;
  type: "app" | "service";
  settings: InstanceSettings;
  backgroundProcessIds: string[];
  usesScheduler: boolean;
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** A constant, safe to insert into a statement. */
const SELECT = `
  select g.id, g.environment_id as "environmentId", g.name, g.type, g.settings,
         array(select id from background_processes where process_group_id = g.id order by id)
           as "backgroundProcessIds",
         exists (select from background_processes where process_group_id = g.id and type = 'scheduler')
           as "usesScheduler",
         ${momentSql("g.created_at")} as "createdAt"
  from process_groups g join environments e on e.id = g.environment_id
  join applications a on a.id = e.application_id`;

/** Adds an instance. */
export async function insertInstance(
  tx: Transaction,
  {
    id,
    environmentId,
    name,
    type,
    settings,
  }: Omit<InstanceRow, "createdAt" | "backgroundProcessIds" | "usesScheduler">,
): Promise<void> {
  await tx`
    insert into process_groups (id, environment_id, name, type, settings)
    values (${id}, ${environmentId}, ${name}, ${type}, ${settings}::jsonb)`;
}

/** The organization's instance with this id. */
export async function findInstance(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<InstanceRow | undefined> {
  const [row] = await db<InstanceRow[]>`
    ${db.unsafe(SELECT)} where g.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** The instances among these, the oldest first. */
export async function instancesWithIds(db: Queryable, ids: readonly string[]): Promise<InstanceRow[]> {
  return await db<InstanceRow[]>`
    ${db.unsafe(SELECT)} where g.id = any(${db.array([...ids], "text")}) order by g.id`;
}

/** A page of an environment's instances, the oldest first, and the number of instances on all pages. */
export async function listInstances(
  db: Database,
  environmentId: string,
  { names, types, sizes, scalingTypes }: ListFilter,
  page: Page,
): Promise<{ rows: InstanceRow[]; total: number }> {
  const scalingType = "case when g.settings ? 'replicas' then 'custom' else 'none' end";
  const matching = db`
    where g.environment_id = ${environmentId} ${among(db, "g.name", names)} ${among(db, "g.type", types)}
      ${among(db, "g.settings ->> 'size'", sizes)} ${among(db, scalingType, scalingTypes)}`;
  const [rows, counted] = await Promise.all([
    db<InstanceRow[]>`
      ${db.unsafe(SELECT)} ${matching}
      order by g.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from process_groups g ${matching}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** The instance that serves an environment. */
export async function servingInstance(
  db: Queryable,
  environmentId: string,
): Promise<InstanceRow | undefined> {
  const [row] = await db<InstanceRow[]>`
    ${db.unsafe(SELECT)} where g.environment_id = ${environmentId} and g.type = 'app'`;
  return row;
}

/** Whether another instance of the environment has the name. */
export async function isNameTaken(
  tx: Transaction,
  { id, environmentId, name }: Pick<InstanceRow, "id" | "environmentId" | "name">,
): Promise<boolean> {
  const rows = await tx`
    select from process_groups where environment_id = ${environmentId} and name = ${name} and id <> ${id}`;
  return rows.length > 0;
}

/** Removes an instance with its background processes; the next run of its environment ends what runs for it. */
export async function eraseInstance(tx: Transaction, id: string): Promise<void> {
  await tx`delete from process_groups where id = ${id}`;
}

/** Replaces the name and the settings of an instance. */
export async function updateInstance(
  tx: Transaction,
  id: string,
  { name, settings }: Pick<InstanceRow, "name" | "settings">,
): Promise<void> {
  await tx`update process_groups set name = ${name}, settings = ${settings}::jsonb where id = ${id}`;
}
