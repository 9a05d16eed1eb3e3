// The API's listeners while their certificates change: no connection is cut off, and later clients get the latest. And
// the order of their requests during a flood.
import { afterEach, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { loadConfig } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { Peer } from "../../../tests/support/gateway/loop.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { CertificateFolder } from "../../../tests/support/wire/tls-sessions.ts";
import { ApiServer } from "./api-server.ts";

const NAMES = ["first.test", "second.test", "third.test", "fourth.test"];
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
  const server = new ApiServer(config, certificates.slice(0, 1), app, handoverMs);
  closers.push(() => server.stop(true));
  return { port, show: (index: number) => server.replaceCertificates(certificates.slice(index, index + 1)) };
}

/** A server in clear, and the addresses of its requests in the order in which the application gets them. */
function serveInClear() {
  const port = freePort();
  const asked: string[] = [];
  const app = {
    fetch: (_: Request, { address }: { address: string }) => {
      asked.push(address);
      return new Response("here");
    },
  };
  const server = new ApiServer(loadConfig({ PILVI_PORT: String(port) }), [], app);
  closers.push(() => server.stop(true));
  return { port, asked };
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
  const { port, show } = serve(100);
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
  const CROWD = 400;
  const { port, asked } = serveInClear();
  // All wait in the kernel before the server looks.
  const peers = Array.from({ length: CROWD }, () => Peer.connect(port, 2));
  peers.push(Peer.connect(port, 3));
  for (const peer of peers) peer.send(REQUEST);
  await until("all were asked", () => asked.length === peers.length);
  expect(asked.indexOf("127.0.0.3")).toBeLessThan(CROWD / 4);
  for (const peer of peers) peer.close();
});
