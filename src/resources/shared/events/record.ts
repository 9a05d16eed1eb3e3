// Writes events, in the transaction of the change that they report.
import { storable } from "../../../lib/storable.ts";
import { recordAudit, type AuditEntry } from "../../../api/auth/audit.ts";
import type { Transaction } from "../../../store/database.ts";
import type { EventResourceType, EventType } from "../event-schema.ts";

/** A change to a resource, with its cause. */
export interface NewEvent {
  organizationId: string;
  type: EventType;
  resource: { type: EventResourceType; id: string; name: string };
  requestId?: string;
  /** Visible to every token that may read the resource. Never a secret. May quote foreign programs. */
  details?: Record<string, unknown>;
}

/**
 * Adds an event, with the time of the store. The transaction then holds the events of the organization, and every other
 * transaction that adds an event waits. Callers therefore make this their last step.
 */
export async function recordEvent(tx: Transaction, event: NewEvent): Promise<void> {
  const { organizationId, type, resource, requestId = null, details = {} } = event;
  await tx`
    insert into events (organization_id, type, resource_type, resource_id, resource_name, request_id, details)
    values (${organizationId}, ${type}, ${resource.type}, ${resource.id}, ${resource.name}, ${requestId}, ${storable(details)})`;
}

/** A request that was carried out, for the audit, and what it changed, for the events of the resource. */
export interface RequestRecord extends Omit<AuditEntry, "id"> {
  event: Omit<NewEvent, "organizationId" | "requestId">;
}

/** Records the request and its event; both are committed with the request or not at all. */
export async function recordRequest(tx: Transaction, { event, ...entry }: RequestRecord): Promise<void> {
  const { principal, requestId } = entry;
  // Both statements travel together, since every round trip prolongs a create.
  await Promise.all([
    recordAudit(tx, { ...entry, id: event.resource.id }),
    recordEvent(tx, { ...event, organizationId: principal.organizationId, requestId }),
  ]);
}

/** The event of a change: the names of the given members, never their values. */
export function changed(resource: NewEvent["resource"], change: object | string[]): RequestRecord["event"] {
  const fields = Array.isArray(change) ? change : Object.keys(change);
  return { type: "changed", resource, details: { fields } };
}
