// A loop for the tests of the API that carries out actions and reconciles no resources.
import { reconcileAction } from "../../../src/resources/shared/actions/reconciler.ts";
import { ACTIONS } from "../../../src/resources/shared/actions/store.ts";
import { createLog } from "../../../src/lib/log.ts";
import { Loop, type Reconcile } from "../../../src/reconciler/loop.ts";
import { sessionOf } from "../../../src/reconciler/test-support.ts";
import { kinds } from "../../../src/resources/index.ts";
import type { TestApi } from "./api.ts";

const letBe: Reconcile = async () => ({ result: { settled: true } });

/** Starts the loop; stop it before the API. */
export async function startActions({ db, context, host }: TestApi): Promise<Loop> {
  const loop = new Loop({
    db,
    openSession: (onClose) => sessionOf(db, onClose),
    hostIds: [host.id],
    reconcilers: new Map([
      ...kinds.map(({ name }) => [name, letBe] as const),
      [ACTIONS, reconcileAction(context)] as const,
    ]),
    slowKinds: [ACTIONS],
    log: createLog("test", "silent"),
  });
  await loop.start();
  return loop;
}
