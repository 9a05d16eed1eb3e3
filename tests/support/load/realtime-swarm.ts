// A process full of clients: carries out the orders of its parent, and reports their state and events.
import { channelText, hmacHex } from "../../../src/realtime/protocol/signatures.ts";
import { APP } from "../engines/realtime.ts";

/** The orders of the parent; each is answered with a `SwarmState` when it is carried out. */
export type SwarmOrder = { kind: "open" | "close"; count: number } | { kind: "report" };

export interface SwarmState {
  /** Connections that have all of their subscriptions. */
  open: number;
  /** Events on the channel that all connections have. */
  received: number;
  /** Unexpected events, in words. */
  faults: string[];
}

/** The channel that all connections subscribe to. */
export const EVERYONE = "everyone";
/** Each connection also subscribes to one of so many channels. */
export const ROOMS = 500;
/** One in so many connections is in the lobby, as one of `USERS`. */
export const LOBBY_SHARE = 20;
export const LOBBY = "presence-lobby";
export const USERS = 80;

/** How many connect at the same time. */
const AT_ONCE = 200;

const state: SwarmState = { open: 0, received: 0, faults: [] };
const sockets: WebSocket[] = [];
let made = 0;

async function open(url: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, () => openOne(url)));
}

/** Resolves when all subscriptions are confirmed. */
function openOne(url: string): Promise<void> {
  const number = made++;
  const socket = new WebSocket(url);
  const wanted = [EVERYONE, `room-${number % ROOMS}`, ...(number % LOBBY_SHARE === 0 ? [LOBBY] : [])];
  let missing = wanted.length;
  return new Promise((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(String(data)) as { event: string; channel?: string; data: string };
      if (frame.event === "hello" && frame.channel === EVERYONE) state.received += 1;
      else if (frame.event === "pusher:connection_established")
        for (const channel of wanted) subscribe(socket, channel, frame.data, number);
      else if (frame.event === "pusher_internal:subscription_succeeded" && --missing === 0) {
        state.open += 1;
        sockets.push(socket);
        resolve();
      } else if (/error/.test(frame.event)) state.faults.push(String(data));
    });
    socket.addEventListener("close", ({ code }) => {
      if (!leaving.delete(socket)) state.faults.push(`closed with ${code}`);
      state.open -= 1;
      resolve();
    });
  });
}

function subscribe(socket: WebSocket, channel: string, greeting: string, number: number): void {
  const { socket_id: socketId } = JSON.parse(greeting) as { socket_id: string };
  const channelData = JSON.stringify({ user_id: String((number / LOBBY_SHARE) % USERS) });
  const auth = `${APP.key}:${hmacHex(APP.secret, channelText(socketId, channel, channelData))}`;
  const proof = channel === LOBBY ? { auth, channel_data: channelData } : {};
  socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel, ...proof } }));
}

/** Connections that the parent wants closed. */
const leaving = new Set<WebSocket>();

/** Closes the oldest connections. Every second connection closes cleanly, the others are cut. */
async function close(count: number): Promise<void> {
  const goodbyes = sockets.splice(0, count).map((socket, index) => {
    leaving.add(socket);
    const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
    if (index % 2 === 0) socket.close(1000);
    else socket.terminate();
    return closed;
  });
  await Promise.all(goodbyes);
}

if (import.meta.main) {
  const [url = ""] = process.argv.slice(2);
  process.on("message", async (order: SwarmOrder) => {
    if (order.kind === "open") await open(url, order.count);
    if (order.kind === "close") await close(order.count);
    process.send?.({ ...state, faults: state.faults.slice(0, 5) });
  });
  process.on("disconnect", () => process.exit());
  process.send?.(state);
}
