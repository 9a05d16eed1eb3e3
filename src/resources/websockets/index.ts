// The kind `websockets`: clusters of the Pusher Channels protocol, and the applications in them.
import type { ResourceKind } from "../kind.ts";
import { applicationOperations } from "./applications/routes.ts";
import { serverFigures } from "./figures.ts";
import { metricsOperations } from "./metrics/routes.ts";
import { reconcileServer } from "./reconciler.ts";
import { serverOperations } from "./routes.ts";

export const websockets: ResourceKind = {
  name: "websockets",
  operations: (context) => [
    ...serverOperations(context),
    ...applicationOperations(context),
    ...metricsOperations(context),
  ],
  reconcile: reconcileServer,
  figures: serverFigures,
};
