// The TCP port of a cluster: WebSocket connections and the HTTP API, on Bun's own server.
import type { Server } from "bun";
import { codeOf, PublicError } from "../../lib/errors.ts";
import type { Cluster, Handshake } from "../cluster.ts";
import { MAX_PAYLOAD_BYTES, type ProcessConfig } from "../../contracts/realtime.ts";
import type { Connection } from "../connection.ts";
import { handleHttp } from "../http/index.ts";
import { splitUrl } from "../http/route.ts";
import { MESSAGE_TOO_LARGE } from "../protocol/close-codes.ts";
import type { Backlog } from "./backlog.ts";
import { UnprovedConnections } from "./unproved-connections.ts";
import { SocketTransport, type Socket } from "./socket-transport.ts";
import type { Log } from "../../lib/line-log.ts";

/** The data of a socket. */
export interface SocketData {
  handshake: Handshake;
  connection: Connection | null;
}

/** A socket with its data. */
export type ClientSocket = Socket & { data: SocketData };

/** Decides whether a request becomes a WebSocket. */
interface Upgrading {
  upgrade(request: Request, options: { data: SocketData }): boolean;
}

/** The events of a socket. */
interface SocketHandlers {
  open(socket: ClientSocket): void;
  message(socket: ClientSocket, message: string | Buffer): void;
  ping(socket: ClientSocket): void;
  pong(socket: ClientSocket): void;
  close(socket: ClientSocket): void;
}

/** Above the limit of the HTTP API, which answers with a reason. */
const MAX_BODY_BYTES = 2 * 1024 ** 2;
/** The libraries of servers keep connections for their next event. */
const KEEP_ALIVE_SECONDS = 120;
/**
 * A single burst of published events may fill a buffer beyond the limit for slow consumers; nothing is dropped below
 * this size.
 */
const MAX_BURST_BYTES = 16 * 1024 ** 2;
/** The longest pong of RFC 6455. */
const PONG_BYTES = 127;

const SOCKET_OPTIONS = {
  maxPayloadLength: MAX_PAYLOAD_BYTES,
  backpressureLimit: MAX_BURST_BYTES,
  closeOnBackpressureLimit: true,
  // The heartbeat does better: Bun's takes a frame that was sent for a sign of life.
  idleTimeout: 0,
  sendPings: false,
  perMessageDeflate: false,
};

/**
 * Begins to listen.
 * @throws PublicError when the port cannot be listened on.
 */
export function listen(
  cluster: Cluster,
  config: Pick<ProcessConfig, "address" | "port" | "certificate">,
  backlog: Backlog,
  log: Log,
): Server<SocketData> {
  const reportFault = (error: unknown) => log.error({ error }, "a request could not be answered");
  const unproved = new UnprovedConnections(config.port);
  try {
    const listener = Bun.serve<SocketData>({
      hostname: config.address,
      port: config.port,
      // The host keeps the address for the user of this process alone, which takes this option on both sides.
      reusePort: true,
      ...(config.certificate === null ? {} : { tls: config.certificate }),
      maxRequestBodySize: MAX_BODY_BYTES,
      idleTimeout: KEEP_ALIVE_SECONDS,
      development: false,
      fetch: (request, server) =>
        unproved.answer(request, server, () => answer(request, server, cluster, reportFault)),
      error: (error) => {
        reportFault(error);
        return new Response("Internal error", { status: 500 });
      },
      websocket: { ...SOCKET_OPTIONS, ...socketHandlers(cluster, backlog, log) },
    });
    unproved.start();
    return listener;
  } catch (error) {
    const isTaken = codeOf(error) === "EADDRINUSE";
    const text = isTaken
      ? `Port ${config.port} is in use by another program on this machine.`
      : `Port ${config.port} cannot be listened on.`;
    throw new PublicError(text, error);
  }
}

/** Answers a request; undefined when it becomes a WebSocket. */
export function answer(
  request: Request,
  server: Upgrading,
  cluster: Cluster,
  reportFault: (error: unknown) => void,
): Response | Promise<Response> | undefined {
  if (request.method !== "GET") return handleHttp(request, cluster, reportFault);
  const { path, query } = splitUrl(request.url);
  const handshake = { path, query, origin: request.headers.get("origin") };
  // Bun decides what a handshake is; everything else stays a request.
  if (server.upgrade(request, { data: { handshake, connection: null } })) return undefined;
  return handleHttp(request, cluster, reportFault);
}

/** Lets clients in and passes on their messages. */
export function socketHandlers(cluster: Cluster, backlog: Backlog, log: Log): SocketHandlers {
  /** A fault of the server must not end the connections of other clients. */
  const guarded =
    <Rest extends unknown[]>(act: (socket: ClientSocket, ...rest: Rest) => void) =>
    (socket: ClientSocket, ...rest: Rest) => {
      try {
        act(socket, ...rest);
      } catch (error) {
        log.error({ error }, "a connection could not be served");
      }
    };
  return {
    open: guarded((socket) => {
      socket.data.connection = cluster.accept(new SocketTransport(socket, backlog), socket.data.handshake);
    }),
    message: guarded((socket, message) => {
      receive(socket, message);
      // Not before, since a client must not be closed in the middle of its message.
      backlog.checkAnswers();
    }),
    ping: (socket) => {
      // Bun has answered, and does not say whether the answer waits.
      backlog.bytes += PONG_BYTES;
      socket.data.connection?.received();
    },
    pong: (socket) => socket.data.connection?.received(),
    close: guarded((socket) => socket.data.connection?.closed()),
  };
}

function receive({ data: { connection } }: ClientSocket, message: string | Buffer): void {
  // Messages after a refusal are not read any more.
  if (connection === null || connection.isClosed) return;
  if (typeof message !== "string") {
    connection.received();
    return connection.complain("Invalid message: expected text");
  }
  const { maxMessageBytes } = connection.application.config;
  const isLarge = message.length * 3 > maxMessageBytes && Buffer.byteLength(message) > maxMessageBytes;
  if (isLarge) return connection.closeWith(MESSAGE_TOO_LARGE);
  connection.receive(message);
}
