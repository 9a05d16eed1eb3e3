// The official clients for browsers, with a customer's server that signs for them.
import Pusher, { type Channel, type Options } from "pusher-js";
import type PusherServer from "pusher";
import { until } from "../pilvi/pilvi.ts";
import { APP } from "../engines/realtime.ts";

/** The user that signs in, as the customer's server describes it. */
export interface SignedInUser {
  id: string;
  user_info?: object;
  watchlist?: string[];
}

/** Signs for every client, except for channels whose name says that they are forbidden. */
export class AuthServer {
  readonly #server: Bun.Server<undefined>;

  constructor(pusher: PusherServer) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      routes: {
        "/auth": { POST: async (request) => authorize(pusher, request) },
        "/signin": { POST: async (request) => signIn(pusher, request) },
      },
      fetch: () => new Response("", { status: 404 }),
    });
  }

  /** The options with which a client uses it. @param user the user that the client claims to be. */
  options(
    user: SignedInUser = { id: "somebody" },
  ): Pick<Options, "channelAuthorization" | "userAuthentication"> {
    const url = (path: string) => `http://127.0.0.1:${this.#server.port}${path}`;
    const params = { user: JSON.stringify(user) };
    return {
      channelAuthorization: { endpoint: url("/auth"), transport: "ajax", params },
      userAuthentication: { endpoint: url("/signin"), transport: "ajax", params },
    };
  }

  async close(): Promise<void> {
    await this.#server.stop(true);
  }
}

/** Answers a client that wants to subscribe. */
export async function authorize(pusher: PusherServer, request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const channel = form.get("channel_name") ?? "";
  if (channel.includes("forbidden")) return new Response("no", { status: 403 });
  const user = userOf(form);
  const data = channel.startsWith("presence-")
    ? { user_id: user.id, user_info: user.user_info ?? {} }
    : undefined;
  return Response.json(pusher.authorizeChannel(form.get("socket_id") ?? "", channel, data as never));
}

async function signIn(pusher: PusherServer, request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  return Response.json(pusher.authenticateUser(form.get("socket_id") ?? "", userOf(form) as never));
}

function userOf(form: URLSearchParams): SignedInUser {
  return JSON.parse(form.get("user") ?? "{}") as SignedInUser;
}

/** A client of the server on the port. */
export function pusherClient(port: number, options: Partial<Options> = {}): Pusher {
  return new Pusher(APP.key, {
    cluster: "",
    wsHost: "127.0.0.1",
    wsPort: port,
    forceTLS: false,
    enabledTransports: ["ws"],
    disableStats: true,
    ...options,
  });
}

/** The data of an event on a channel or a client, oldest first, from now on. */
export function received(
  emitter: { bind(event: string, callback: (data: unknown, metadata?: unknown) => void): unknown },
  event: string,
): unknown[] {
  const all: unknown[] = [];
  emitter.bind(event, (data, metadata) => void all.push(withoutUser(data, metadata)));
  return all;
}

/** Waits until the subscription to the channel succeeds or fails. */
export async function subscribed<T extends Channel>(channel: T): Promise<T> {
  let fault: unknown;
  channel.bind("pusher:subscription_error", (error: unknown) => (fault = error));
  await until(`${channel.name} is subscribed to`, () => channel.subscribed || fault !== undefined);
  if (fault !== undefined) throw new Error(`${channel.name}: ${JSON.stringify(fault)}`);
  return channel;
}

/** Waits until the client has the state. */
export async function inState(client: Pusher, state: string): Promise<void> {
  await until(
    `the client is ${state}, not ${client.connection.state}`,
    () => client.connection.state === state,
  );
}

function withoutUser(data: unknown, metadata: unknown): unknown {
  const userId = (metadata as { user_id?: string } | undefined)?.user_id;
  return userId === undefined ? data : { data, userId };
}
