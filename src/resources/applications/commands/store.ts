// The rows of commands: every SQL statement about them.
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import { among } from "../../shared/lists.ts";
import { momentSql } from "../../shared/moments.ts";
import { COMMANDS } from "../work.ts";
import type { CommandStatus } from "./schema.ts";

/** The properties that a command gets at its creation. */
interface CommandValues {
  id: string;
  environmentId: string;
  /** The deployment whose release it runs in. */
  deploymentId: string;
  command: string;
  hasTerminal: boolean;
  /** The user that began it; null for a token. */
  initiatorId: string | null;
}

/** How a command ended. */
export interface CommandEnd {
  status: "command.success" | "command.failure";
  exitCode: number | null;
  failureReason: string | null;
  /** The end of its output. */
  output: string;
  isOutputCut: boolean;
}

export interface CommandRow extends CommandValues {
  organizationId: string;
  hostId: string;
  environmentName: string;
  status: CommandStatus;
  isCancelled: boolean;
  exitCode: number | null;
  failureReason: string | null;
  output: string | null;
  isOutputCut: boolean;
  /** UTC with microseconds, ISO 8601; so are the following. */
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** A constant, safe to insert into a statement. */
const FROM = `
  from commands c join environments e on e.id = c.environment_id join applications a on a.id = e.application_id`;

/** A constant, safe to insert into a statement. */
const SELECT = `
  select c.id, c.environment_id as "environmentId", c.deployment_id as "deploymentId", c.command, c.has_terminal as "hasTerminal", c.status,
         c.is_cancelled as "isCancelled", c.exit_code as "exitCode", c.failure_reason as "failureReason", c.output,
         c.is_output_cut as "isOutputCut", c.initiator_id as "initiatorId", e.name as "environmentName",
         a.organization_id as "organizationId", a.host_id as "hostId", ${momentSql("c.created_at")} as "createdAt",
         ${momentSql("c.started_at")} as "startedAt", ${momentSql("c.finished_at")} as "finishedAt" ${FROM}`;

/** Adds a command in the status `pending`. */
export async function insertCommand(tx: Transaction, values: CommandValues): Promise<void> {
  const { id, environmentId, deploymentId, command, hasTerminal, initiatorId } = values;
  await tx`
    insert into commands (id, environment_id, deployment_id, command, has_terminal, initiator_id)
    values (${id}, ${environmentId}, ${deploymentId}, ${command}, ${hasTerminal}, ${initiatorId})`;
}

/** The organization's command with this id. */
export async function findCommand(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<CommandRow | undefined> {
  const [row] = await db<CommandRow[]>`
    ${db.unsafe(SELECT)} where c.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** Any organization's command, for the reconciler. */
export async function loadCommand(db: Queryable, id: string): Promise<CommandRow | undefined> {
  const [row] = await db<CommandRow[]>`${db.unsafe(SELECT)} where c.id = ${id}`;
  return row;
}

/** The filter and the page of a list. */
interface CommandSearch {
  environmentId: string;
  statuses: readonly string[];
  /** A part of the command; undefined for all. */
  text: string | undefined;
  page: Page;
}

/** A page of an environment's commands, the newest first, and the number of commands on all pages. */
export async function listCommands(
  db: Database,
  { environmentId, statuses, text, page }: CommandSearch,
): Promise<{ rows: CommandRow[]; total: number }> {
  const ofText = text === undefined ? db`` : db`and strpos(lower(c.command), lower(${text})) > 0`;
  const matching = db`where c.environment_id = ${environmentId} ${among(db, "c.status", statuses)} ${ofText}`;
  const [rows, counted] = await Promise.all([
    db<CommandRow[]>`
      ${db.unsafe(SELECT)} ${matching}
      order by c.id desc limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from commands c ${matching}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** How many commands have not ended: those of the environment, and those of the organizations that share its quotas. */
export async function openCommandCounts(
  tx: Transaction,
  familyId: string,
  environmentId: string,
): Promise<{ ofEnvironment: number; ofFamily: number }> {
  // Requests for other environments of the family wait here, so that both counts stay right.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${COMMANDS}/${familyId}`}::text, 0))`;
  const [row] = await tx<{ ofEnvironment: number; ofFamily: number }[]>`
    select count(*) filter (where c.environment_id = ${environmentId})::int as "ofEnvironment",
           count(*)::int as "ofFamily" ${tx.unsafe(FROM)}
    where a.organization_id in (select id from organizations where family_id = ${familyId}) and c.finished_at is null`;
  return row ?? { ofEnvironment: 0, ofFamily: 0 };
}

/** Moves a command that has not ended on. */
export async function writeCommandStatus(
  db: Queryable,
  id: string,
  status: "command.created" | "command.running",
  startedAt: string | null = null,
): Promise<void> {
  await db`
    update commands set status = ${status}, started_at = ${startedAt}::timestamptz
    where id = ${id} and finished_at is null`;
  await notify(db, "status", id);
}

/** Notes that somebody asked for the end of a command. */
export async function markCommandCancelled(tx: Transaction, id: string): Promise<void> {
  await tx`update commands set is_cancelled = true where id = ${id} and finished_at is null`;
}

/** Ends a command, unless it has ended meanwhile. @returns whether this call ended it. */
export async function writeCommandEnd(
  tx: Queryable,
  id: string,
  end: CommandEnd,
  startedAt: string | null,
): Promise<boolean> {
  const rows = await tx`
    update commands
    set status = ${end.status}, exit_code = ${end.exitCode}, failure_reason = ${end.failureReason},
        output = ${end.output}, is_output_cut = ${end.isOutputCut},
        started_at = coalesce(${startedAt}::timestamptz, started_at), finished_at = now()
    where id = ${id} and finished_at is null returning id`;
  await notify(tx, "status", id);
  return rows.length > 0;
}

/** The ids of an environment's commands, the newest first. @param skipped how many of them are left out. */
export async function commandIds(
  db: Queryable,
  environmentId: string,
  { skipped, limit }: { skipped: number; limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from commands where environment_id = ${environmentId} and finished_at is not null
    order by id desc limit ${limit} offset ${skipped}`;
  return rows.map(({ id }) => id);
}

/** Removes the row of a command that has ended. */
export async function eraseCommand(db: Queryable, id: string): Promise<void> {
  await db`delete from commands where id = ${id} and finished_at is not null`;
}

/** Ends all commands of an environment that is being deleted, and notifies the requests that wait for them. */
export async function endCommandsOf(tx: Transaction, environmentId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    update commands
    set status = 'command.failure', failure_reason = 'The environment was deleted.', output = '', finished_at = now()
    where environment_id = ${environmentId} and finished_at is null returning id`;
  for (const { id } of rows) await notify(tx, "status", id);
}

/** Whether a run is under way for a command of an environment. */
export async function isRunningCommands(db: Queryable, environmentId: string): Promise<boolean> {
  const rows = await db`
    select from work where kind = ${COMMANDS} and owner is not null
      and id in (select id from commands where environment_id = ${environmentId}) limit 1`;
  return rows.length > 0;
}
