// Caches and database clusters for tests of the API: created, brought to a status, changed, and observed by the driver.
import type { Observation } from "../../../src/contracts/observation.ts";
import type { Sleep } from "../../../src/contracts/sleep.ts";
import type { InstanceKind } from "../../../src/resources/shared/instance-kinds.ts";
import { writeProgress } from "../../../src/resources/shared/rows.ts";
import { validCache, validDatabase, type TestApi } from "./api.ts";

/** The two kinds that may sleep: name, path of the collection, and a body that creates a resource. */
export const SLEEPERS = [
  { kind: "caches", path: "/api/caches", body: { ...validCache, uses_hibernation: true } },
  { kind: "databases", path: "/api/databases/clusters", body: validDatabase },
] as const satisfies { kind: InstanceKind; path: string; body: object }[];

export type Sleeper = (typeof SLEEPERS)[number];

/** The members of an answer about either kind that these tests read. */
export interface Answer {
  data: {
    id: string;
    attributes: Record<string, unknown> & {
      status: string;
      config: Record<string, unknown>;
      connection: { port: number };
    };
    meta: {
      last_error: string | null;
      sleep: Record<string, unknown>;
      storage_bytes: number | null;
      former_credentials?: { expires_at: string } | null;
    };
  };
  message?: string;
  errors?: Record<string, string[]>;
}

/** Sends a request to the API, and reads the answer. */
export async function ask(api: TestApi, address: string, init: Parameters<TestApi["request"]>[1] = {}) {
  const response = await api.request(address, init);
  return { status: response.status, body: (await response.json()) as Answer };
}

/** Creates a resource from its body. */
export async function make(
  api: TestApi,
  { path }: Pick<Sleeper, "path">,
  json: object,
): Promise<Answer["data"]> {
  const { status, body } = await ask(api, path, { json });
  if (status !== 201) throw new Error(`nothing was made: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Writes a status, and that the resource has no open work, as a run of the reconciler would. */
export async function becomes(api: TestApi, kind: InstanceKind, id: string, status: string): Promise<void> {
  await api.db.begin(async (tx) => {
    await tx`update work set deadline_at = null, run_at = 'infinity', last_error = null where id = ${id}`;
    await writeProgress(tx, kind, id, status, { engine: null, limits: null, lastError: null });
  });
}

/** Whether the resource has open work. */
export async function hasWork(api: TestApi, id: string): Promise<boolean> {
  const [row] = await api.db<{ isDue: boolean }[]>`
    select deadline_at is not null as "isDue" from work where id = ${id}`;
  return row?.isDue === true;
}

/** The actions in the audit of a resource, oldest first. */
export async function audited(api: TestApi, id: string): Promise<{ action: string; details: object }[]> {
  const rows = await api.db<{ action: string; details: object }[]>`
    select action, details from audit where resource_id = ${id} order by id`;
  return rows.map(({ action, details }) => ({ action, details }));
}

/** The observed state of an instance behind the gateway; `state` is that of its engine. */
export function observed(
  id: string,
  state: Observation["state"],
  sleep: Partial<Sleep> | null = {},
  rest: Partial<Observation> = {},
): Observation {
  const since = "2026-03-15T08:18:53.204Z";
  return {
    id,
    state,
    since,
    engine: null,
    limits: null,
    lastError: null,
    crashes: 0,
    sleep: sleep && { state: "awake", since, lastWake: null, wakes: 0, ...sleep },
    ...rest,
  };
}
