// An application in memory for the tests of the HTTP API, and requests with its signature.
import { Channel } from "../channel.ts";
import { channelKindOf } from "../protocol/channel-name.ts";
import { hmacHex, md5Hex } from "../protocol/signatures.ts";
import { handleHttp } from "./index.ts";
import type { HttpApplication, HttpTarget } from "./target.ts";

export const APP_ID = "3";
export const KEY = "278d425bdf160c739803";
export const SECRET = "7ad3773142a6692b25b8";
/** The time of the published example of a signature. */
export const NOW_SECONDS = 1_353_088_179;

/** A published event: channel, name, data, and the socket that is left out. */
export type Published = [channel: string, name: string, data: string, exceptSocketId: string | undefined];

export class TestApplication implements HttpApplication, HttpTarget {
  readonly config = { key: KEY };
  secrets = [SECRET];
  requests = 0;
  readonly published: Published[] = [];
  readonly terminated: string[] = [];
  /** The errors that the server would log. */
  readonly faults: unknown[] = [];
  readonly cached = new Map<string, { data: string; ttlSeconds: number }>();
  readonly #channels = new Map<string, Channel>();

  /** Occupies a channel, with a connection of each of the users or with a number of connections. */
  occupy(
    name: string,
    { users = [], connections = 1 }: { users?: string[]; connections?: number } = {},
  ): void {
    const kind = channelKindOf(name);
    if (kind === null) throw new Error(`there can be no channel ${name}`);
    const channel = new Channel(name, kind, name);
    for (const user of users) channel.addMember(user, {});
    channel.subscriptionCount = users.length || connections;
    this.#channels.set(name, channel);
  }

  applicationByAppId(appId: string): HttpApplication | undefined {
    return appId === APP_ID ? this : undefined;
  }

  requested(): void {
    this.requests += 1;
  }

  validSecrets(): readonly string[] {
    return this.secrets;
  }

  channel(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  channels(): Iterable<Channel> {
    return this.#channels.values();
  }

  publish(channel: string, name: string, data: string, exceptSocketId?: string): void {
    this.published.push([channel, name, data, exceptSocketId]);
  }

  lastEvent(channel: string): { data: string; ttlSeconds: number } | undefined {
    return this.cached.get(channel);
  }

  terminateUser(userId: string): number {
    this.terminated.push(userId);
    return 1;
  }
}

/** The parameters of a query, unescaped. */
type Parameters = Record<string, string>;

/** The query of a client that has the secret. */
export function signedQuery(method: string, path: string, parameters: Parameters, body = ""): string {
  const all: Parameters = {
    auth_key: KEY,
    auth_timestamp: String(NOW_SECONDS),
    auth_version: "1.0",
    ...parameters,
  };
  if (body !== "" && all["body_md5"] === undefined) all["body_md5"] = md5Hex(body);
  const text = Object.keys(all)
    .sort()
    .map((key) => `${key.toLowerCase()}=${all[key]}`)
    .join("&");
  const signature = hmacHex(SECRET, `${method}\n${path}\n${text}`);
  return new URLSearchParams({ ...all, auth_signature: signature }).toString();
}

/** Sends a request unchanged. */
export async function send(
  target: TestApplication,
  method: string,
  url: string,
  body?: string,
): Promise<Response> {
  const request = new Request(`http://realtime.test${url}`, {
    method,
    ...(body === undefined ? {} : { body }),
  });
  return handleHttp(request, target, (fault) => target.faults.push(fault), NOW_SECONDS * 1000);
}

/** Sends a signed request, and returns its status and its text. */
export async function call(
  target: TestApplication,
  method: "GET" | "POST",
  path: string,
  { query = {}, body }: { query?: Parameters; body?: unknown } = {},
): Promise<[status: number, text: string]> {
  const fullPath = `/apps/${APP_ID}${path}`;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const url = `${fullPath}?${signedQuery(method, fullPath, query, text)}`;
  const response = await send(target, method, url, text);
  return [response.status, await response.text()];
}
