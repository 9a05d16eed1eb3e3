// The Prometheus metrics of all running WebSocket clusters, at the moment of the request.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import type { FigureFamily, FigureSource, LabelledFigure } from "../../api/http/metrics.ts";
import type { KindContext } from "../kind.ts";
import { runningWebSocketClusters } from "./store.ts";

/** The longest wait of a metrics request; clusters that have not answered by then are left out. */
const DEADLINE_MS = 2_000;
const AT_ONCE = 16;

/** The figures that a cluster reports of each application, with their metrics in Prometheus. */
const OF_APPLICATIONS: Record<string, FigureFamily> = {
  connections: ofApplication(
    "gauge",
    "connections",
    "Clients that are connected to a WebSocket application.",
  ),
  messagesReceived: ofApplication(
    "counter",
    "messages_received_total",
    "Messages that came from clients and publishers of a WebSocket application.",
  ),
  messagesSent: ofApplication(
    "counter",
    "messages_sent_total",
    "Messages that went to clients of a WebSocket application.",
  ),
  slowConsumers: ofApplication(
    "counter",
    "slow_consumers_total",
    "Clients of a WebSocket application that were closed because they did not read.",
  ),
  "webhooks.delivered": ofApplication(
    "counter",
    "webhooks_delivered_total",
    "Webhook requests of a WebSocket application that were taken.",
  ),
  "webhooks.failed": ofApplication(
    "counter",
    "webhooks_failed_total",
    "Attempts of webhook requests that were not taken.",
  ),
  "webhooks.dropped": ofApplication(
    "counter",
    "webhooks_dropped_total",
    "Webhook requests that were given up.",
  ),
};

const CLUSTER_CONNECTIONS: FigureFamily = {
  name: "pilvi_websocket_server_connections",
  help: "Clients that are connected to a WebSocket cluster.",
  type: "gauge",
  labels: ["server"],
  idLabels: ["server"],
};

function ofApplication(type: FigureFamily["type"], name: string, help: string): FigureFamily {
  const labels = ["server", "application"];
  return { name: `pilvi_websocket_${name}`, help, type, labels, idLabels: labels };
}

/** Asks all running clusters, or those of one organization. A cluster that does not answer is left out. */
export const clusterGauges: FigureSource<KindContext> = {
  families: [CLUSTER_CONNECTIONS, ...Object.values(OF_APPLICATIONS)],
  read,
};

async function read({ db, hosts }: KindContext, organizationId?: string): Promise<LabelledFigure[]> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const reported: LabelledFigure[] = [];
  await forEachLimited(
    await runningWebSocketClusters(db, organizationId),
    AT_ONCE,
    async ({ id: clusterId, hostId }) => {
      if (signal.aborted) return;
      try {
        const { whole, parts } = await hosts.of(hostId).driver.figures(clusterId, signal);
        add(reported, CLUSTER_CONNECTIONS, { server: clusterId }, whole["connections"]);
        for (const { id, figures } of parts) {
          for (const [figure, family] of Object.entries(OF_APPLICATIONS)) {
            add(reported, family, { server: clusterId, application: id }, figures[figure]);
          }
        }
      } catch {
        // The cluster's status reports whether it runs; this source only leaves its figures out.
      }
    },
  );
  return reported;
}

function add(
  reported: LabelledFigure[],
  { name }: FigureFamily,
  labels: LabelledFigure["labels"],
  value: number | undefined,
): void {
  if (value !== undefined) reported.push({ name, labels, value });
}
