// HTTPS at a real edge: the host's certificate, HTTP/2, and a renewed certificate without a connection noticing.
import { afterEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { connect, type PeerCertificate } from "node:tls";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { makeAuthority, makeServerCertificate } from "../../processes/tls/x509.ts";

const NAME = "a.localhost";
const period = { from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 86_400_000) };
const authority = makeAuthority(period);

let lone: LoneEdge;

afterEach(async () => await lone.close());

/** The serial number of the certificate that a new client is shown. */
async function shownSerial(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>();
  const socket = connect({
    host: "127.0.0.1",
    port: lone.httpsPort ?? 0,
    servername: NAME,
    ca: authority.cert,
  });
  socket.once("secureConnect", () => resolve(socket.getPeerCertificate()));
  socket.once("error", reject);
  const { serialNumber } = await promise;
  socket.destroy();
  return serialNumber;
}

test("HTTPS serves HTTP/2 and HTTP/1.1 with the certificate, and says so to the application", async () => {
  lone = await LoneEdge.start({ certificate: makeServerCertificate(authority, [NAME], period) });
  lone.serve("a", (request) => new Response(request.headers.get("x-forwarded-proto")));
  await lone.route("a", [NAME]);
  const url = `https://127.0.0.1:${lone.httpsPort}/`;
  const tls = { ca: authority.cert, serverName: NAME };
  const response = await fetch(url, { headers: { host: NAME }, tls });
  expect(await response.text()).toBe("https");

  const session = connectHttp2(url, { ca: authority.cert, servername: NAME });
  const stream = session.request({ ":authority": NAME, ":path": "/" });
  let text = "";
  stream.setEncoding("utf8");
  for await (const part of stream) text += String(part);
  expect(text).toBe("https");
  session.close();
});

test("a certificate with empty lines in its file is shown as any other", async () => {
  const { cert, key } = makeServerCertificate(authority, [NAME], period);
  const chain = `${cert}\n\n${authority.cert}`.replaceAll("\n", "\r\n");
  lone = await LoneEdge.start({ certificate: { cert: chain, key } });
  expect(await shownSerial()).toBe(new X509Certificate(cert).serialNumber);
});

test("a renewed certificate is shown to new clients, and connections go on", async () => {
  lone = await LoneEdge.start({ certificate: makeServerCertificate(authority, [NAME], period) });
  lone.serve("a", () => new Response("ok"));
  await lone.route("a", [NAME]);
  const { pid } = lone.engine;
  const former = await shownSerial();
  const session = connectHttp2(`https://127.0.0.1:${lone.httpsPort}/`, {
    ca: authority.cert,
    servername: NAME,
  });
  await new Promise((resolve) => session.once("connect", resolve));
  lone.certificate = makeServerCertificate(authority, [NAME], period);
  await until("the renewed certificate is shown", async () => (await shownSerial()) !== former);
  const stream = session.request({ ":authority": NAME, ":path": "/" });
  const status = await new Promise((resolve) =>
    stream.once("response", (headers) => resolve(headers[":status"])),
  );
  expect(status).toBe(200);
  stream.resume();
  session.close();
  expect(lone.engine.pid).toBe(pid);
});
