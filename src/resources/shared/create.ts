// Creates an instance of any kind: one transaction with its row, its port, its work item, and the audit.
import { invalid } from "../../api/jsonapi/errors.ts";
import { createOnce } from "../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { newId } from "../../lib/ids.ts";
import { newPassword } from "../../lib/secrets.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import type { Allocation, KindContext } from "../kind.ts";
import { recordRequest } from "./events/record.ts";
import { INSTANCE_KINDS, type InstanceKind } from "./instance-kinds.ts";
import { PortQuotaExceeded } from "./port-quota.ts";
import { takePort, withFreePort, type PortOffer } from "./ports.ts";
import { allocate, type AllocationFields } from "./quotas.ts";
import type { CloudRegion } from "./regions.ts";
import type { InstanceLogin, InstanceValues } from "./rows.ts";

/** The time in which a change of desired state should be in force; later it is overdue. */
export const DEADLINE_SECONDS = 60;

/** The same for an instance whose first data is copied, which takes as long as its size needs. */
export const RESTORE_DEADLINE_SECONDS = 24 * 3_600;

const USERNAME = "app";

/** The members that every request for a new instance has. */
export type NewInstance = Record<string, unknown> & { name: string; region: CloudRegion };

/** How a kind inserts and finds its rows. */
interface InstanceCreation<Row> {
  kind: InstanceKind;
  /** `DEADLINE_SECONDS` when left out. */
  deadlineSeconds?: number;
  insert(tx: Transaction, values: InstanceValues): Promise<Row>;
  find(tx: Transaction, organizationId: string, id: string): Promise<Row | undefined>;
  /** The allocation of the instance, and the fields that decide it. */
  allocationOf(row: Row): Allocation;
  allocationFields: AllocationFields;
}

/**
 * Creates the requested instance, or finds the instance that the same Idempotency-Key created before.
 * @throws ApiError 422 when it exceeds a quota.
 */
export async function createInstance<Row>(
  context: KindContext,
  request: OperationRequest<NewInstance>,
  creation: InstanceCreation<Row>,
): Promise<{ row: Row; isReplayed: boolean }> {
  const { principal, requestId, body } = request;
  const { organizationId } = principal;
  const { kind, deadlineSeconds = DEADLINE_SECONDS } = creation;
  const host = context.hosts.forNew();
  const id = newId(INSTANCE_KINDS[kind].prefix);
  const createAt = (offer: PortOffer) =>
    createOnce(context.db, {
      organizationId,
      kind,
      id,
      request: request.idempotency,
      create: async (tx) => {
        const row = await creation.insert(tx, {
          id,
          organizationId,
          hostId: host.id,
          name: body.name,
          region: body.region,
          port: await takePort(tx, { id, kind, resourceId: id, organizationId, hostId: host.id }, offer),
        });
        await enqueue(tx, { kind, id, hostId: host.id, deadlineSeconds });
        const resource = { type: INSTANCE_KINDS[kind].type, id, name: body.name };
        const event = { type: "created" as const, resource };
        await recordRequest(tx, { principal, requestId, action: "create", kind, details: body, event });
        const order = { kind, id, allocation: creation.allocationOf(row), fields: creation.allocationFields };
        await allocate(tx, context.quotas, principal, order);
        await failpoint("create.written");
        return row;
      },
      find: (tx, madeId) => creation.find(tx, organizationId, madeId),
    });
  const created = await withFreePort(context, host, createAt).catch(refused);
  await failpoint("create.committed");
  return created;
}

function refused(error: unknown): never {
  throw error instanceof PortQuotaExceeded ? invalid({ type: [error.message] }) : error;
}

/** The user of a new instance, with a newly generated password. */
export function newLogin({ vault }: KindContext, id: string): InstanceLogin {
  return { username: USERNAME, sealedPassword: vault.seal(newPassword(), id), formerPassword: null };
}
