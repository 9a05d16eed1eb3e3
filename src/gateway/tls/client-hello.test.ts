// The first message of TLS clients: real ones, cut and damaged ones.
import { afterAll, expect, test } from "bun:test";
import { createServer } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import { readClientHello } from "./client-hello.ts";

const server = createServer().listen(0, "127.0.0.1");
afterAll(() => void server.close());

async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const { port } = server.address() as { port: number };
  const arrived = new Promise<Buffer>((resolve) => {
    server.once("connection", (socket) => socket.on("error", () => {}).once("data", resolve));
  });
  const client = connect({ port, host: "127.0.0.1", ...options }).on("error", () => {});
  const hello = await arrived;
  client.destroy();
  return hello;
}

const NAMED = { servername: "Db.Example.com", ALPNProtocols: ["h2", "postgresql"] };

test.each(["TLSv1.2", "TLSv1.3"] as const)("the names of a client of %s are read", async (version) => {
  const versions = { minVersion: version, maxVersion: version };
  expect(readClientHello(await helloOf({ ...versions, ...NAMED }))).toEqual({
    serverName: "db.example.com",
    protocols: ["h2", "postgresql"],
  });
  expect(readClientHello(await helloOf(versions))).toEqual({ serverName: null, protocols: [] });
});

test("a message that has arrived in part is partial, wherever it is cut", async () => {
  const hello = await helloOf(NAMED);
  for (let length = 0; length < hello.length; length++) {
    expect(readClientHello(hello.subarray(0, length))).toBe("partial");
  }
});

test("a message may be spread over several records", async () => {
  const hello = await helloOf(NAMED);
  const records: Buffer[] = [];
  for (let at = 5; at < hello.length; at += 3) {
    const part = hello.subarray(at, at + 3);
    records.push(Buffer.from([22, 3, 1, 0, part.length]), part);
  }
  expect(readClientHello(Buffer.concat(records))).toEqual(readClientHello(hello));
});

test.each([
  ["plain text", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ["another handshake message", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0])],
  ["a record that is too long", Buffer.from([22, 3, 1, 255, 255])],
  ["a message that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255])],
])("%s is no such message", (_, bytes) => {
  expect(readClientHello(bytes)).toBe("other");
});

test("damaged lengths are understood as something, or as no such message", async () => {
  const hello = await helloOf(NAMED);
  for (let at = 9; at < hello.length; at++) {
    const damaged = Buffer.from(hello);
    damaged[at] = 255;
    expect(["object", "string"]).toContain(typeof readClientHello(damaged));
  }
});
