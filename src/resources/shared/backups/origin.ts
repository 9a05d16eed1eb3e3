// The origin of an instance: the backup, the instant or the instance that its first data comes from.
import { ApiError } from "../../../api/jsonapi/errors.ts";
import type { EngineName } from "../../../contracts/engine-names.ts";
import type { Origin } from "../../../contracts/instance-spec.ts";
import type { Transaction } from "../../../store/database.ts";
import { refuseDeleting } from "../desired-state.ts";
import { INSTANCE_KINDS } from "../instance-kinds.ts";
import type { BackedUpKind } from "./archives.ts";

/** The column `origin` of instances that may have an origin; null for an instance that began empty. */
export interface StoredOrigin {
  from: Origin;
  /** The engine of the data, which the instance needs as well. */
  engine: EngineName;
  /**
   * That it is a clone, which can be refreshed from its parent, and whether its data is masked each time; left out for
   * a restore, and for clones of earlier releases, which did not keep the SQL of their masks.
   */
  clone?: { isMasked: boolean };
  /** Whether its data must be masked before its owner may log in; left out otherwise. */
  isMaskPending?: true;
  /** Why its data could not be restored; left out unless that is so. */
  error?: string;
}

/** An instance whose data is to be copied. */
export interface CopiedInstance {
  status: string;
  origin: StoredOrigin | null;
}

/** The member of a spec that names the origin; none for an instance that began empty. */
export function originIn(origin: StoredOrigin | null): { origin?: Origin } {
  return origin === null ? {} : { origin: origin.from };
}

/** The instance that the first data is from. */
export function parentOf({ from }: StoredOrigin): string {
  return "instance" in from ? from.instance : from.archive;
}

/** The status with which an instance begins. */
export function firstStatusOf(origin: StoredOrigin | null): "creating" | "restoring" {
  return origin === null ? "creating" : "restoring";
}

/** @throws ApiError 409 for an instance whose present data cannot be copied and never will be, or is not masked. */
export function refuseAsSource({ status, origin }: CopiedInstance, noun: string): void {
  refuseDeleting({ status }, noun);
  refuseUnmasked({ origin }, noun);
  if (status === "restore_failed")
    throw new ApiError(409, `The ${noun} could not be restored, so it has no data.`);
}

/**
 * A copy would have the data as it was, with a password that its owner knows. The mask stays pending when it has failed,
 * and is never pending again once it has run.
 * @throws ApiError 409
 */
export function refuseUnmasked({ origin }: Pick<CopiedInstance, "origin">, noun: string): void {
  if (origin?.isMaskPending === true)
    throw new ApiError(409, `The data of the ${noun} is not masked, so it cannot be copied.`);
}

/** Keeps the reason why the data of an instance could not be restored. */
export async function writeRestoreError(
  tx: Transaction,
  kind: BackedUpKind,
  id: string,
  error: string | null,
): Promise<void> {
  const reason = error ?? "The host gives no reason.";
  await tx`
    update ${tx.unsafe(INSTANCE_KINDS[kind].table)} set origin = origin || jsonb_build_object('error', ${reason}::text)
    where id = ${id}`;
}
