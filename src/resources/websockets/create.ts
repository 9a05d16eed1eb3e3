// Creates a WebSocket cluster with its default application.
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { createInstance } from "../shared/create.ts";
import { allocationFields, allocationOf } from "./allocation.ts";
import { newApplicationValues } from "./applications/create.ts";
import { newApplication } from "./applications/schema.ts";
import { insertApplication } from "./applications/store.ts";
import type { NewWebSocketCluster } from "./schema.ts";
import { findWebSocketCluster, insertWebSocketCluster, type WebSocketClusterRow } from "./store.ts";

const DEFAULT_APPLICATION = "main";

/** Creates the requested cluster, or finds the cluster that the same Idempotency-Key created before. */
export async function createWebSocketCluster(
  context: KindContext,
  request: OperationRequest<NewWebSocketCluster>,
): Promise<{ row: WebSocketClusterRow; isReplayed: boolean }> {
  const { type, max_connections: maxConnections } = request.body;
  return await createInstance<WebSocketClusterRow>(context, request, {
    kind: "websockets",
    async insert(tx, values) {
      const row = await insertWebSocketCluster(tx, { ...values, type, maxConnections });
      const settings = newApplication.parse({ name: DEFAULT_APPLICATION });
      const application = await insertApplication(
        tx,
        newApplicationValues(context, { clusterId: row.id, settings, maxConnections }),
      );
      return { ...row, applications: [application] };
    },
    find: findWebSocketCluster,
    allocationOf,
    allocationFields,
  });
}
