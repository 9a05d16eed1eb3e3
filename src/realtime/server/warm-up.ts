// Has the JavaScript engine compile the code of connections before the first client: otherwise the first thousands
// would pay for it.
import { Cluster } from "../cluster.ts";
import {
  DEFAULT_WEBSOCKET_SETTINGS,
  type WebSocketApplication,
} from "../../contracts/websocket-application.ts";
import type { ApplicationEvents } from "../events.ts";
import type { Log } from "../../lib/line-log.ts";
import { answer, socketHandlers, type ClientSocket, type SocketData } from "./listener.ts";
import { Backlog } from "./backlog.ts";

/** Enough for the code of a connection to be compiled; more would cost the start more than they save. */
const CONNECTIONS = 800;
/** How many connections are open at a time, on one channel. */
const ROUND = 50;
const URL = "http://127.0.0.1/app/warm-up?protocol=7&client=js&version=8.4.0";
const SUBSCRIBE = JSON.stringify({ event: "pusher:subscribe", data: { channel: "warm-up" } });

/**
 * Connects, subscribes and disconnects simulated clients in a cluster of its own. Takes some 10 ms.
 * @returns the frames that were sent to them.
 */
export function warmUp(log: Log): number {
  const cluster = new Cluster(ignore, () => NO_EVENTS);
  cluster.configure({ maxConnections: ROUND, applications: [APPLICATION] });
  const backlog = new Backlog(cluster, log);
  const handlers = socketHandlers(cluster, backlog, log);
  for (let done = 0; done < CONNECTIONS; done += ROUND) {
    const sockets = Array.from({ length: ROUND }, () => new SilentSocket());
    for (const socket of sockets) {
      void answer(new Request(URL), socket, cluster, ignore);
      handlers.open(socket);
    }
    for (const socket of sockets) handlers.message(socket, SUBSCRIBE);
    for (const socket of sockets) handlers.close(socket);
  }
  return cluster.applicationById(APPLICATION.id)?.counters.sent ?? 0;
}

/** A client's socket that takes everything and sends nothing. */
class SilentSocket implements ClientSocket {
  data: SocketData = { handshake: { path: "", query: "", origin: null }, connection: null };

  upgrade(_request: Request, { data }: { data: SocketData }): boolean {
    this.data = data;
    return true;
  }

  sendText(frame: string): number {
    return frame.length;
  }

  publishText(_topic: string, frame: string): number {
    return frame.length;
  }

  getBufferedAmount(): number {
    return 0;
  }

  subscribe(): boolean {
    return true;
  }

  unsubscribe(): boolean {
    return true;
  }

  ping(): number {
    return 1;
  }

  close(): void {}

  terminate(): void {}
}

function ignore(): void {}

const NO_EVENTS: ApplicationEvents = {
  channelOccupied: ignore,
  channelVacated: ignore,
  memberAdded: ignore,
  memberRemoved: ignore,
  clientEvent: ignore,
  cacheMiss: ignore,
  subscriptionCount: ignore,
};

const APPLICATION: WebSocketApplication = {
  ...DEFAULT_WEBSOCKET_SETTINGS,
  id: "warm-up",
  appId: "0",
  key: "warm-up",
  secrets: [],
  maxConnections: ROUND,
  subscriptionCountEnabled: true,
};
