// Removes an application that is being deleted, once nothing of its environments is left, and drops the uploads of single
// environments that were.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { dropOldUploads } from "./sources/old-uploads.ts";
import { eraseApplication, loadApplication } from "./store.ts";

/** The reconciler of applications, which have work when they or one of their environments are deleted. */
export function reconcileApplication(context: KindContext): Reconcile {
  const { db, repositories } = context;
  return async (id) => {
    const application = await loadApplication(db, id);
    if (application === undefined) return { result: "gone" };
    if (application.status !== "deleting") {
      await dropOldUploads(context, await repositories.of(id), id);
      return { result: { settled: true } };
    }
    if (application.environmentIds.length > 0) return { result: { settled: true } };
    await repositories.remove(id);
    return { result: "gone", write: (tx) => eraseApplication(tx, application) };
  };
}
