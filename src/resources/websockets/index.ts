// The kind `websockets`: clusters of the Pusher Channels protocol, and the applications in them.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { applicationOperations } from "./applications/routes.ts";
import { serverFigures } from "./figures.ts";
import { metricsOperations } from "./metrics/routes.ts";
import { reconcileServer } from "./reconciler.ts";
import { serverOperations } from "./routes.ts";
import { loadServer } from "./store.ts";

export const websockets: ResourceKind = {
  name: "websockets",
  operations: (context) => [
    ...serverOperations(context),
    ...applicationOperations(context),
    ...metricsOperations(context),
  ],
  reconcile: reconcileServer,
  async allocationOf(db, id) {
    const server = await loadServer(db, id);
    return server && allocationOf(server);
  },
  figures: serverFigures,
};
