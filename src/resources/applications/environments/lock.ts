// Locks an environment behind its application, as every transaction does that needs both.
import type { Transaction } from "../../../store/database.ts";
import { lockApplication, type ApplicationRow } from "../store.ts";
import { findEnvironment, lockEnvironment, type EnvironmentRow } from "./store.ts";

/** The organization's environment and its application, both locked until the transaction ends. */
export async function lockWithApplication(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ application: ApplicationRow; environment: EnvironmentRow } | undefined> {
  const found = await findEnvironment(tx, organizationId, id);
  if (found === undefined) return undefined;
  const application = await lockApplication(tx, organizationId, found.applicationId);
  const environment = await lockEnvironment(tx, organizationId, id);
  return application && environment && { application, environment };
}
