// The rows of background processes: every SQL statement about them.
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { PlannedProcess } from "../../../contracts/plan.ts";
import { newId } from "../../../lib/ids.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { momentSql } from "../../shared/moments.ts";
import type { InstanceSettings } from "../instances/store.ts";
import type { WorkerConfig } from "./schema.ts";

/** What is to run. */
export interface BackgroundProcessOrder {
  /** A `scheduler` comes and goes by the order of its instance alone. */
  type: "worker" | "custom" | "scheduler";
  processes: number;
  command: string | null;
  config: WorkerConfig;
}

export interface BackgroundProcessRow extends BackgroundProcessOrder {
  id: string;
  instanceId: string;
  environmentId: string;
  hostId: string;
  procfileName: string | null;
  /** The settings of its instance. */
  settings: InstanceSettings;
  /** The ids of the processes that run for it. */
  processIds: string[];
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** A constant, safe to insert into a statement. */
const SELECT = `
  select b.id, b.process_group_id as "instanceId", g.environment_id as "environmentId", a.host_id as "hostId",
         b.type, b.processes, b.command, b.config, b.procfile_name as "procfileName", g.settings,
         array(select p.id from application_processes p where p.background_process_id = b.id) as "processIds",
         ${momentSql("b.created_at")} as "createdAt"
  from background_processes b join process_groups g on g.id = b.process_group_id
  join environments e on e.id = g.environment_id join applications a on a.id = e.application_id`;

/** Adds a background process. */
export async function insertBackgroundProcess(
  tx: Transaction,
  { id, instanceId, ...order }: BackgroundProcessOrder & { id: string; instanceId: string },
): Promise<void> {
  await tx`
    insert into background_processes (id, process_group_id, type, processes, command, config)
    values (${id}, ${instanceId}, ${order.type}, ${order.processes}, ${order.command}, ${order.config}::jsonb)`;
}

/** The organization's background process with this id. */
export async function findBackgroundProcess(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<BackgroundProcessRow | undefined> {
  const [row] = await db<BackgroundProcessRow[]>`
    ${db.unsafe(SELECT)} where b.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** A page of an instance's background processes, the oldest first, and the number on all pages. */
export async function listBackgroundProcesses(
  db: Database,
  instanceId: string,
  page: Page,
): Promise<{ rows: BackgroundProcessRow[]; total: number }> {
  const [rows, counted] = await Promise.all([
    db<BackgroundProcessRow[]>`
      ${db.unsafe(SELECT)} where b.process_group_id = ${instanceId}
      order by b.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`
      select count(*)::int as total from background_processes where process_group_id = ${instanceId}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** All background processes of an environment, the oldest first. */
export async function backgroundProcessesOf(
  db: Queryable,
  environmentId: string,
): Promise<BackgroundProcessRow[]> {
  return await db<BackgroundProcessRow[]>`
    ${db.unsafe(SELECT)} where g.environment_id = ${environmentId} order by b.id`;
}

/** The background processes among these, the oldest first. */
export async function backgroundProcessesWithIds(
  db: Queryable,
  ids: readonly string[],
): Promise<BackgroundProcessRow[]> {
  return await db<BackgroundProcessRow[]>`
    ${db.unsafe(SELECT)} where b.id = any(${db.array([...ids], "text")}) order by b.id`;
}

/** Replaces the order of a background process. */
export async function updateBackgroundProcess(
  tx: Transaction,
  id: string,
  { type, processes, command, config }: BackgroundProcessOrder,
): Promise<void> {
  await tx`
    update background_processes
    set type = ${type}, processes = ${processes}, command = ${command}, config = ${config}::jsonb
    where id = ${id}`;
}

/** Removes a background process; the next run of its environment ends what runs for it. */
export async function eraseBackgroundProcess(tx: Transaction, id: string): Promise<void> {
  await tx`delete from background_processes where id = ${id}`;
}

/** Removes the scheduler of an instance. */
export async function eraseScheduler(tx: Transaction, instanceId: string): Promise<void> {
  await tx`delete from background_processes where process_group_id = ${instanceId} and type = 'scheduler'`;
}

/** Whether an instance of the environment has the scheduler. */
export async function isScheduled(tx: Transaction, environmentId: string): Promise<boolean> {
  const rows = await tx`
    select from background_processes b join process_groups g on g.id = b.process_group_id
    where g.environment_id = ${environmentId} and b.type = 'scheduler'`;
  return rows.length > 0;
}

/**
 * Brings the background processes of the serving instance to the lines of a Procfile. A line that stays keeps its
 * number of processes.
 */
export async function followProcfile(
  tx: Transaction,
  environmentId: string,
  lines: readonly PlannedProcess[],
): Promise<void> {
  const names = tx.array(
    lines.map(({ name }) => name),
    "text",
  );
  await tx`
    delete from background_processes
    where procfile_name is not null and procfile_name <> all(${names})
      and process_group_id in (select id from process_groups where environment_id = ${environmentId})`;
  for (const { name, command } of lines)
    await tx`
      insert into background_processes (id, process_group_id, type, processes, command, procfile_name)
      select ${newId("process")}, id, 'custom', 1, ${command}, ${name} from process_groups
      where environment_id = ${environmentId} and type = 'app'
      on conflict (process_group_id, procfile_name) do update set command = excluded.command`;
}

/** The processes that the desired state of an instance has: those for requests, and background processes. */
export interface OrderedProcesses {
  /** The name of the size that each of them has. */
  size: string;
  count: number;
}

/** The ordered processes of an environment, by instance. */
export async function orderedProcessesOf(db: Queryable, environmentId: string): Promise<OrderedProcesses[]> {
  return await db<OrderedProcesses[]>`
    select g.settings ->> 'size' as size,
           (replicas * ((g.type = 'app')::int + background) + schedulers)::int as count
    from process_groups g,
      lateral (select coalesce((g.settings ->> 'replicas')::int, 1) as replicas) r,
      lateral (
        select coalesce(sum(b.processes) filter (where b.type <> 'scheduler'), 0) as background,
               count(*) filter (where b.type = 'scheduler') as schedulers
        from background_processes b
        where b.process_group_id = g.id) c
    where g.environment_id = ${environmentId}`;
}
