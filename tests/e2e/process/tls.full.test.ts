// TLS on the API, on public caches and on WebSocket clusters, and requests that are refused without it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import {
  cacheBody,
  freshDataDir,
  pilviEnv,
  startPilvi,
  TOKEN,
  type CacheDocument,
  type TestPilvi,
} from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { validServer } from "../../support/api/api.ts";
import { publish, RawSocket, type ServerDocument } from "../../support/pilvi/websockets.ts";
import { runCommand, runPilvi } from "../../support/pilvi/program.ts";

let folder: string;
let certFile: string;
let keyFile: string;
let certificate: string;
let pilvi: TestPilvi;

beforeAll(async () => {
  folder = freshDataDir();
  [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const files = ["-keyout", keyFile, "-out", certFile];
  const made = await runCommand([
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    ...names,
    ...files,
  ]);
  if (made.code !== 0) throw new Error(made.stderr);
  certificate = await Bun.file(certFile).text();
  pilvi = await startPilvi({ env: { PILVI_TLS_CERT: certFile, PILVI_TLS_KEY: keyFile } });
});

afterAll(async () => {
  await pilvi.close();
  rmSync(folder, { recursive: true });
});

async function ask<Document = CacheDocument>(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; document: Document }> {
  const response = await fetch(`https://127.0.0.1:${pilvi.port}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    tls: { ca: certificate },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, document: (await response.json()) as Document };
}

async function available(attributes: Record<string, unknown>): Promise<CacheResource> {
  const created = await ask("POST", "/caches", cacheBody(attributes));
  expect(created.status).toBe(201);
  const { document } = await ask("GET", `/caches/${created.document.data.id}?wait=available`);
  expect(document.data.attributes.status).toBe("available");
  return document.data;
}

test("the API speaks HTTPS with the certificate, and no plain HTTP", async () => {
  expect((await ask("GET", "/caches")).status).toBe(200);
  await expect(fetch(`https://127.0.0.1:${pilvi.port}/healthz`)).rejects.toThrow(/certificate/i);
  await expect(fetch(`http://127.0.0.1:${pilvi.port}/healthz`)).rejects.toThrow();
});

test.each(["platform_valkey", "hosted_redis"])("a public cache of type %s speaks TLS", async (type) => {
  const size = type === "hosted_redis" ? "250mb" : "valkey-flex-250mb";
  const { attributes } = await available({ type, size, is_public: true });
  const { hostname, port, username, password, protocol } = attributes.connection;
  expect(protocol).toBe("rediss");
  const url = `${protocol}://${username}:${password}@${hostname}:${port}`;
  const client = new Redis(url, { tls: { ca: certificate } });
  expect(await client.set("greeting", "moi")).toBe("OK");
  client.disconnect();
  const official = createClient({ url, socket: { tls: true, ca: certificate } });
  await official.connect();
  expect(await official.get("greeting")).toBe("moi");
  official.destroy();
});

test("a private cache speaks no TLS", async () => {
  const { attributes } = await available({});
  const { hostname, port, username, password, protocol } = attributes.connection;
  expect(protocol).toBe("redis");
  const client = new Redis(`${protocol}://${username}:${password}@${hostname}:${port}`);
  expect(await client.ping()).toBe("PONG");
  client.disconnect();
});

test("a WebSocket cluster speaks wss and https, and no plain text", async () => {
  const path = "/websocket-servers";
  const { document: created } = await ask<ServerDocument>("POST", path, validServer);
  const { document } = await ask<ServerDocument>("GET", `${path}/${created.data.id}?wait=available`);
  const [main] = created.included ?? [];
  if (main === undefined) throw new Error("a cluster has an application");
  expect(document.data.attributes.status).toBe("available");
  expect(document.data.meta.url).toStartWith("wss://");
  expect(document.data.meta.http_url).toStartWith("https://");
  const tls = { ca: certificate };
  const socket = await new RawSocket(document.data, main, { tls }).connected();
  await socket.subscribe("news");
  const event = { channel: "news", name: "said", data: "hello" };
  expect(await publish(document.data, main, event, { tls })).toBe(200);
  expect(await socket.next("said")).toBe("hello");
  socket.close();
  const untrusting = publish(document.data, main, event);
  await expect(untrusting).rejects.toThrow(/certificate/i);
  await expect(fetch(document.data.meta.http_url.replace("https:", "http:"))).rejects.toThrow();
});

test("the command line names the missing authority of an unknown certificate", async () => {
  const env = { ...pilvi.env, PILVI_TOKEN: TOKEN };
  const untrusting = await runPilvi(["caches", "list"], env);
  expect(untrusting.code).toBe(1);
  expect(untrusting.stderr).toContain("NODE_EXTRA_CA_CERTS");
  const friend = await runPilvi(["caches", "list"], { ...env, NODE_EXTRA_CA_CERTS: certFile });
  expect(friend.stderr).toBe("");
  expect(friend.code).toBe(0);
});

test.each(["PILVI_HOST", "PILVI_BIND"])(
  "%s is not opened to others without TLS by accident",
  async (name) => {
    const dataDir = freshDataDir();
    const env = { ...pilviEnv(dataDir, freePort()), [name]: "0.0.0.0" };
    const refused = await runPilvi(["up"], env);
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: `${name} 0.0.0.0 can be reached from other machines, which needs PILVI_TLS_CERT and PILVI_TLS_KEY, or PILVI_INSECURE=1.\n`,
    });
    const meant = await startPilvi({ dataDir, env: { [name]: "0.0.0.0", PILVI_INSECURE: "1" } });
    expect((await meant.api("GET", "/caches")).status).toBe(200);
    await meant.close();
  },
);
