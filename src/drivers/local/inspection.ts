// The questions of the driver about what runs in an instance.
import { cancelAnswerSchema, queriesAnswerSchema, statementsAnswerSchema } from "../../contracts/queries.ts";
import type { Driver } from "../driver.ts";
import type { HostConnection } from "./host-connection.ts";

/** How long an answer may take, with the questions of others before it. */
const TIMEOUT_MS = 25_000;

/** The part of the driver that reads and ends what runs in instances. */
export function inspections({
  ask,
  askFor,
}: HostConnection): Pick<Driver, "queries" | "cancel" | "statements" | "resetStatements"> {
  return {
    queries: (id, { withIdle }) =>
      askFor(queriesAnswerSchema, "GET", `/instances/${id}/queries?idle=${withIdle}`, bounded()),
    cancel: (id, query, scope) => {
      const path = `/instances/${id}/queries/${encodeURIComponent(query)}?scope=${scope}`;
      return askFor(cancelAnswerSchema, "DELETE", path, bounded());
    },
    statements: (id, { order, limit }) =>
      askFor(
        statementsAnswerSchema,
        "GET",
        `/instances/${id}/statements?order=${order}&limit=${limit}`,
        bounded(),
      ),
    resetStatements: async (id) => void (await ask("DELETE", `/instances/${id}/statements`, bounded())),
  };
}

function bounded(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}
