// The rows of the processes that serve environments: every SQL statement about them.
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { takePort, type PortOffer } from "../../shared/ports.ts";
import { ENVIRONMENTS } from "../work.ts";

/** A process with one release and the variables of its start. */
export interface ApplicationProcess {
  /** Also the id of its instance. */
  id: string;
  deploymentId: string;
  port: number;
  sealedSpec: string;
  /** Of all that the process follows from: another digest needs another process. */
  digest: string;
  /**
   * - `starting`: no request reaches it yet.
   * - `serving`: the edge leads requests to it.
   * - `retiring`: another process serves; requests that it has may end.
   */
  state: "starting" | "serving" | "retiring";
  retiresAt: Date | null;
}

/** The processes of an environment, the oldest first. */
export async function processesOf(db: Queryable, environmentId: string): Promise<ApplicationProcess[]> {
  return await db<ApplicationProcess[]>`
    select p.id, p.deployment_id as "deploymentId", i.port, p.sealed_spec as "sealedSpec", p.digest, p.state,
           p.retires_at as "retiresAt"
    from application_processes p join instances i on i.id = p.id
    where p.environment_id = ${environmentId} and p.background_process_id is null order by p.id`;
}

/** A process that answers no requests. */
export interface BackgroundRun extends Pick<
  ApplicationProcess,
  "id" | "deploymentId" | "sealedSpec" | "digest"
> {
  backgroundProcessId: string;
  /** Whether its end was ordered. The host does not start it again, so another process has to take its place. */
  isEnding: boolean;
}

/** The processes of an environment that answer no requests, the oldest first. */
export async function backgroundRunsOf(db: Queryable, environmentId: string): Promise<BackgroundRun[]> {
  return await db<BackgroundRun[]>`
    select id, deployment_id as "deploymentId", sealed_spec as "sealedSpec", digest, background_process_id as "backgroundProcessId",
           state = 'retiring' as "isEnding"
    from application_processes
    where environment_id = ${environmentId} and background_process_id is not null order by id`;
}

/** Adds a process that answers no requests, so it has no port. */
export async function insertBackgroundRun(
  tx: Transaction,
  environment: { id: string; hostId: string },
  run: Omit<BackgroundRun, "isEnding">,
): Promise<void> {
  await tx`
    insert into instances (id, kind, resource_id, host_id)
    values (${run.id}, ${ENVIRONMENTS}, ${environment.id}, ${environment.hostId})`;
  await tx`
    insert into application_processes
      (id, environment_id, deployment_id, sealed_spec, digest, state, background_process_id)
    values (${run.id}, ${environment.id}, ${run.deploymentId}, ${run.sealedSpec}, ${run.digest}, 'serving',
            ${run.backgroundProcessId})`;
}

/** The properties of a new process; it gets its port for life. */
type NewProcess = Pick<ApplicationProcess, "id" | "deploymentId" | "sealedSpec" | "digest">;

/** Adds a process that starts. @throws PortQuotaExceeded, PortsTaken, ApiError as `takePort` does. */
export async function insertProcess(
  tx: Transaction,
  { id: resourceId, organizationId, hostId }: { id: string; organizationId: string; hostId: string },
  process: NewProcess,
  offer: PortOffer,
): Promise<number> {
  const place = { kind: ENVIRONMENTS, resourceId, organizationId, hostId };
  const port = await takePort(tx, { id: process.id, ...place }, offer);
  await tx`
    insert into application_processes (id, environment_id, deployment_id, sealed_spec, digest, state)
    values (${process.id}, ${resourceId}, ${process.deploymentId}, ${process.sealedSpec}, ${process.digest},
            'starting')`;
  return port;
}

/** Has a process go on with another spec. */
export async function writeProcessSpec(
  db: Queryable,
  { id, sealedSpec, digest }: Pick<ApplicationProcess, "id" | "sealedSpec" | "digest">,
): Promise<void> {
  await db`update application_processes set sealed_spec = ${sealedSpec}, digest = ${digest} where id = ${id}`;
}

/** Has processes serve; all others that served requests retire after the given time. */
export async function promoteProcesses(
  tx: Transaction,
  environmentId: string,
  ids: readonly string[],
  retirementSeconds: number,
): Promise<void> {
  const promoted = tx.array([...ids], "text");
  await tx`
    update application_processes
    set state = 'retiring', retires_at = now() + make_interval(secs => ${retirementSeconds})
    where environment_id = ${environmentId} and state = 'serving' and background_process_id is null
      and id <> all(${promoted})`;
  await tx`update application_processes set state = 'serving' where id = any(${promoted})`;
}

/** Has all processes retire at once; no request reaches them any more. */
export async function retireProcesses(db: Queryable, environmentId: string): Promise<void> {
  await db`
    update application_processes set state = 'retiring', retires_at = now()
    where environment_id = ${environmentId} and state <> 'retiring'`;
}

/** Has background processes retire at once. */
export async function retireBackgroundRuns(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db`
    update application_processes set state = 'retiring', retires_at = now()
    where id = any(${db.array([...ids], "text")})`;
}

/** Removes the row of a process of which nothing is left, and frees its port. */
export async function eraseProcess(db: Queryable, id: string): Promise<void> {
  await db`delete from instances where id = ${id}`;
}
