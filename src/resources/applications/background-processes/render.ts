// Renders a background process for the token of the request.
import { can, type Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { isServed } from "../../shared/status.ts";
import { commandOfProcess } from "./command.ts";
import type { BackgroundProcessResource } from "./schema.ts";
import type { BackgroundProcessRow } from "./store.ts";

/** The resource object; the last words of a process may quote secrets, as its log may. */
export function renderBackgroundProcess(
  row: BackgroundProcessRow,
  { hosts }: KindContext,
  principal: Principal,
): BackgroundProcessResource {
  const { id, instanceId, type, processes, config, procfileName, createdAt } = row;
  const { observedStates } = hosts.of(row.hostId);
  const seen = row.processIds.flatMap((each) => observedStates.of(each) ?? []);
  const lastError = seen.find((each) => each.lastError !== null)?.lastError ?? null;
  return {
    id,
    type: "background_processes",
    attributes: {
      type,
      processes,
      command: commandOfProcess(row),
      config: Object.keys(config).length === 0 ? [] : config,
      strategy_type: "none",
      strategy_threshold: null,
      created_at: createdAt,
    },
    relationships: { instance: { data: { id: instanceId, type: "instances" } } },
    meta: {
      procfile_name: procfileName,
      running: seen.filter(isServed).length,
      last_error: can(principal, "applications:credentials") ? lastError : null,
    },
  };
}
