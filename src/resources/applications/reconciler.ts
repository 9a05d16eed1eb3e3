// Removes an application that is being deleted, once nothing of its environments is left.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { eraseApplication, loadApplication } from "./store.ts";

/** The reconciler of applications; an application that is not being deleted has no work of its own. */
export function reconcileApplication({ db, repositories }: KindContext): Reconcile {
  return async (id) => {
    const application = await loadApplication(db, id);
    if (application === undefined) return { result: "gone" };
    if (application.status !== "deleting" || application.environmentIds.length > 0)
      return { result: { settled: true } };
    await repositories.remove(id);
    return { result: "gone", write: (tx) => eraseApplication(tx, application) };
  };
}
