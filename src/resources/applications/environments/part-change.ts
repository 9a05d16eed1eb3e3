// Changes of the parts of an environment: its instances and its background processes.
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { Transaction } from "../../../store/database.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { enqueueEnvironment } from "../work.ts";
import { environmentResourceOf } from "./create.ts";
import { forgetRefusal, type EnvironmentRow } from "./store.ts";

/** Enqueues an environment of which a part was changed, with the audit and the event of the change. */
export async function recordPartChange(
  tx: Transaction,
  { principal, requestId }: Pick<OperationRequest<unknown, unknown, unknown>, "principal" | "requestId">,
  environment: EnvironmentRow,
  { part, details }: { part: "instances" | "background_processes"; details: Record<string, unknown> },
): Promise<void> {
  await forgetRefusal(tx, environment.id);
  await enqueueEnvironment(tx, environment);
  const event = changed(environmentResourceOf(environment), [part]);
  await recordRequest(tx, { principal, requestId, action: "update", kind: "environments", details, event });
}
