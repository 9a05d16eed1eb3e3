// What all running WebSocket clusters count at the moment, for Prometheus.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import type { FigureFamily, FigureSource, LabelledFigure } from "../../api/metrics.ts";
import type { KindContext } from "../kind.ts";
import { runningServers } from "./store.ts";

/** Whoever asks for the metrics waits no longer; clusters that have not told by then are left out. */
const DEADLINE_MS = 2_000;
const AT_ONCE = 16;

/** The figures that a cluster tells of each application, and what Prometheus knows them as. */
const OF_APPLICATIONS: Record<string, FigureFamily> = {
  connections: {
    name: "pilvi_websocket_connections",
    help: "Clients that are connected to a WebSocket application.",
    type: "gauge",
    labels: ["server", "application"],
  },
  messagesReceived: {
    name: "pilvi_websocket_messages_received_total",
    help: "Messages that came from clients and publishers of a WebSocket application.",
    type: "counter",
    labels: ["server", "application"],
  },
  messagesSent: {
    name: "pilvi_websocket_messages_sent_total",
    help: "Messages that went to clients of a WebSocket application.",
    type: "counter",
    labels: ["server", "application"],
  },
  slowConsumers: {
    name: "pilvi_websocket_slow_consumers_total",
    help: "Clients of a WebSocket application that were closed because they did not read.",
    type: "counter",
    labels: ["server", "application"],
  },
};

const SERVER_CONNECTIONS: FigureFamily = {
  name: "pilvi_websocket_server_connections",
  help: "Clients that are connected to a WebSocket cluster.",
  type: "gauge",
  labels: ["server"],
};

/** Asks all clusters that run. One that does not answer is left out. */
export const serverFigures: FigureSource<KindContext> = {
  families: [SERVER_CONNECTIONS, ...Object.values(OF_APPLICATIONS)],
  read,
};

async function read({ db, driver, hostId }: KindContext): Promise<LabelledFigure[]> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const told: LabelledFigure[] = [];
  await forEachLimited(await runningServers(db, hostId), AT_ONCE, async (server) => {
    if (signal.aborted) return;
    try {
      const { whole, parts } = await driver.figures(server, signal);
      add(told, SERVER_CONNECTIONS, { server }, whole["connections"]);
      for (const { id, figures } of parts) {
        for (const [figure, family] of Object.entries(OF_APPLICATIONS)) {
          add(told, family, { server, application: id }, figures[figure]);
        }
      }
    } catch {
      // Its status says whether it runs; here it only has no figures.
    }
  });
  return told;
}

function add(
  told: LabelledFigure[],
  { name }: FigureFamily,
  labels: LabelledFigure["labels"],
  value: number | undefined,
): void {
  if (value !== undefined) told.push({ name, labels, value });
}
