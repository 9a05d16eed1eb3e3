// Clients and servers that speak TLS, with a certificate of our own.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { runProgram } from "../support/clients/programs.ts";
import { handshakeOf } from "../support/wire/raw-websocket.ts";
import { APP, TestRealtime } from "../support/engines/realtime.ts";

const realtime = new TestRealtime();
const keyFile = join(realtime.folder, "key.pem");
const certFile = join(realtime.folder, "cert.pem");

beforeAll(async () => {
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await runProgram(["openssl", "req", "-x509", ...kind, "-keyout", keyFile, "-out", certFile, ...names]);
  realtime.certificate = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  await realtime.start();
  await realtime.configure();
});

afterAll(() => realtime.close());

test("the official libraries connect, publish and receive events over TLS", async () => {
  const script = `
    const [Pusher, Server] = [require("pusher-js"), require("pusher")];
    const server = new Server({ appId: "${APP.appId}", key: "${APP.key}", secret: "${APP.secret}", host: "127.0.0.1", port: "${realtime.port}", useTLS: true });
    const pusher = new Pusher("${APP.key}", { cluster: "", wsHost: "127.0.0.1", wssPort: ${realtime.port}, forceTLS: true, enabledTransports: ["ws", "wss"] });
    const channel = pusher.subscribe("news");
    channel.bind("pusher:subscription_succeeded", () => server.trigger("news", "hello", { text: "sealed" }));
    channel.bind("hello", (data) => { console.log(data.text); pusher.disconnect(); });`;
  expect(await runProgram(["node", "-e", script], { NODE_EXTRA_CA_CERTS: certFile })).toBe("sealed\n");
});

test("a client that does not speak TLS receives nothing", async () => {
  const received = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect({ host: "127.0.0.1", port: realtime.port }, () => socket.write(handshakeOf()));
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
  expect(received).not.toContain("HTTP/1.1 101");
  expect((await realtime.stats()).connections).toBe(0);
});
