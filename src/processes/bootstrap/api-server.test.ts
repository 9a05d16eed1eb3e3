// The API's listeners while their certificates change: no connection is cut off, and later clients get the latest. And
// their requests during a flood: the order, and how many are under way at once.
import { afterEach, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import type { Caller } from "../../api/http/execute.ts";
import { loadConfig } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { Peer } from "../../../tests/support/gateway/loop.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { CertificateFolder } from "../../../tests/support/wire/tls-sessions.ts";
import { ApiServer, type ApiServerBounds } from "./api-server.ts";

const NAMES = ["first.test", "second.test", "third.test", "fourth.test"];
/** Requests of a crowd, far more than begin in a turn of the loop. */
const CROWD = 400;
const REQUEST = "GET /here HTTP/1.1\r\nHost: localhost\r\n\r\n";

let certificates: NamedCertificate[];
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  const folder = new CertificateFolder();
  const certificateOf = async (name: string) => {
    const { cert, key } = await folder.newPair(name, undefined, name);
    return { names: [name], cert, key };
  };
  certificates = await Promise.all(NAMES.map(certificateOf));
  folder.remove();
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that shows the first certificate. */
function serve(handoverMs?: number) {
  const port = freePort();
  const config = loadConfig({ PILVI_PORT: String(port) });
  const app = { fetch: () => new Response("here") };
  const server = new ApiServer(
    config,
    certificates.slice(0, 1),
    app,
    handoverMs === undefined ? {} : { handoverMs },
  );
  closers.push(() => server.stop(true));
  return { port, show: (index: number) => server.replaceCertificates(certificates.slice(index, index + 1)) };
}

/** A request as the application gets it. */
interface Asked {
  address: string;
  token: string | null;
}

/** A server in clear, and its requests in the order in which the application gets them. */
function serveInClear(
  answer: (request: Request, caller: Caller) => Promise<Response> = async () => new Response("here"),
  bounds?: ApiServerBounds,
) {
  const port = freePort();
  const asked: Asked[] = [];
  const app = {
    fetch: (request: Request, caller: Caller = {}) => {
      asked.push({ address: caller.address ?? "", token: request.headers.get("authorization") });
      return answer(request, caller);
    },
  };
  const server = new ApiServer(loadConfig({ PILVI_PORT: String(port) }), [], app, bounds);
  closers.push(() => server.stop(true));
  return { port, asked };
}

/** Answers with the body. */
async function readWhole(request: Request): Promise<Response> {
  return new Response(await request.text());
}

/** Does so for an organization that the first word of the token names, when it has room. */
async function readProved(request: Request, { prove }: Caller): Promise<Response> {
  const [owner = ""] = request.headers.get("authorization")?.split(" ") ?? [];
  return prove?.(owner) === false ? new Response("refused") : await readWhole(request);
}

/** The beginning of a request whose body does not come to its end. */
function withHalfABody(token: string): string {
  return `POST /here HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\nContent-Length: 9\r\n\r\n{`;
}

/** Sends a request on a new connection. */
function send(port: number, request: string, host = 1): Peer {
  const peer = Peer.connect(port, host);
  closers.push(() => peer.close());
  peer.send(request);
  return peer;
}

async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  closers.push(() => socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

/** @throws Error when the connection ends without an answer. */
async function ask(socket: TLSSocket): Promise<string> {
  const answer = Promise.withResolvers<string>();
  socket.once("data", (data) => answer.resolve(String(data)));
  socket.once("error", answer.reject);
  socket.once("close", () => answer.reject(new Error("closed without an answer")));
  socket.write(REQUEST);
  return await answer.promise;
}

async function nameAt(port: number): Promise<string> {
  const socket = await open(port);
  expect(await ask(socket)).toContain("200 OK");
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

test("a connection from before the change is answered once more, and closed", async () => {
  const { port, show } = serve();
  const [silent, used] = [await open(port), await open(port)];
  expect(await ask(used)).not.toMatch(/^connection: close/im);
  show(1);
  expect(await nameAt(port)).toBe("second.test");
  for (const socket of [silent, used]) expect(await ask(socket)).toMatch(/^connection: close/im);
  await Promise.all([silent, used].map((socket) => socket.closed || once(socket, "close")));
});

test("each client gets the latest certificate while several changes are being handed over", async () => {
  // A former listener ends after this time and cuts off unfinished handshakes, which are slow on a busy machine.
  const { port, show } = serve(6_000);
  const stop = new AbortController();
  const faults: unknown[] = [];
  const clients = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) await nameAt(port).catch((error: unknown) => faults.push(error));
  });
  for (const index of [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]) show(index);
  await until("the last change is shown", async () => (await nameAt(port)) === "fourth.test");
  const kept = await open(port);
  await ask(kept);
  show(0);
  // Former listeners that have not ended may leave no room for another change yet.
  await until("the new change is shown", async () => (await nameAt(port)) === "first.test");
  await until("the former listeners have ended", () => kept.closed);
  for (let again = 0; again < 20; again += 1) expect(await nameAt(port)).toBe("first.test");
  stop.abort();
  await Promise.all(clients);
  expect(faults).toEqual([]);
});

test("a request comes before most of a crowd of requests that another network has sent earlier", async () => {
  const { port, asked } = serveInClear();
  // All wait in the kernel before the server looks.
  for (let count = 0; count < CROWD; count += 1) send(port, REQUEST, 2);
  send(port, REQUEST, 3);
  await until("all were asked", () => asked.length === CROWD + 1);
  expect(asked.findIndex(({ address }) => address === "127.0.0.3")).toBeLessThan(CROWD / 4);
});

test("a request comes before most of a crowd of requests with other credentials from the same address", async () => {
  const { port, asked } = serveInClear();
  for (let count = 0; count < CROWD; count += 1) send(port, withHalfABody("crowd"));
  send(port, withHalfABody("other"));
  await until("all were asked", () => asked.length === CROWD + 1);
  expect(asked.findIndex(({ token }) => token === "other")).toBeLessThan(CROWD / 4);
});

test("requests beyond the bound of their credentials are refused before their bodies, and no others", async () => {
  const { port, asked } = serveInClear(readWhole, { mostUnderWay: 3 });
  const held = Array.from({ length: 3 }, () => send(port, withHalfABody("crowd")));
  await until("the first are under way", () => asked.length === 3);
  const refused = send(port, withHalfABody("crowd"));
  await until("another is refused, and its connection ended", () => refused.receiveAll().end === "closed");
  expect(refused.text).toMatch(/^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n/is);
  const other = send(port, `${withHalfABody("other")}12345678`);
  await until("other credentials are served", () => other.text.endsWith("{12345678"));
  held[0]?.send("12345678");
  await until("the first is answered", () => held[0]?.text.endsWith("{12345678") === true);
  const next = send(port, `${withHalfABody("crowd")}12345678`);
  await until("there is room for another", () => next.text.endsWith("{12345678"));
  expect(asked.map(({ token }) => token)).toEqual(["crowd", "crowd", "crowd", "other", "crowd"]);
});

test("an organization has one bound for all its tokens", async () => {
  const { port, asked } = serveInClear(readProved, { mostUnderWay: 2 });
  for (const token of ["crowd 1", "crowd 2"]) send(port, withHalfABody(token));
  await until("the first are under way", () => asked.length === 2);
  const [refused, other] = ["crowd 3", "other"].map((token) => send(port, `${withHalfABody(token)}12345678`));
  await until("another token is refused", () => refused?.text.endsWith("refused") === true);
  await until("another organization is served", () => other?.text.endsWith("{12345678") === true);
});
