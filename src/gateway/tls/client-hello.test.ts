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

/** The same message in records with so many bytes of it. */
function inRecordsOf(bytes: number, hello: Buffer): Buffer {
  const records: Buffer[] = [];
  for (let at = 5; at < hello.length; at += bytes) {
    const part = hello.subarray(at, at + bytes);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

const most = (hello: Buffer) => inRecordsOf(Math.ceil((hello.length - 5) / 32), hello);

test("a message that has arrived in part needs more bytes, wherever it is cut", async () => {
  const hello = await helloOf(NAMED);
  for (const whole of [hello, most(hello)]) {
    for (let length = 0; length < whole.length; length++) {
      const { neededBytes } = readClientHello(whole.subarray(0, length)) as { neededBytes: number };
      expect(neededBytes).toBeGreaterThan(length);
      expect(neededBytes).toBeLessThanOrEqual(whole.length);
    }
  }
});

test("a message is looked at twice for each record at most, however its bytes arrive", async () => {
  const hello = await helloOf(NAMED);
  for (const [whole, looks] of [
    [hello, 4],
    [most(hello), 66],
  ] as const) {
    let [neededBytes, count] = [1, 1];
    for (;;) {
      const read = readClientHello(whole.subarray(0, neededBytes));
      if (typeof read === "string" || !("neededBytes" in read)) break;
      ({ neededBytes } = read);
      count += 1;
    }
    expect(neededBytes).toBe(whole.length);
    expect(count).toBeLessThanOrEqual(looks);
  }
});

test("a message may be spread over several records", async () => {
  const hello = await helloOf(NAMED);
  expect(readClientHello(most(hello))).toEqual(readClientHello(hello));
});

test("a message in very many records is no such message, before all of them have arrived", async () => {
  const hello = await helloOf(NAMED);
  const records = inRecordsOf(1, hello);
  expect(readClientHello(records)).toBe("other");
  const [before, beyond] = [31, 32].map((count) => readClientHello(records.subarray(0, count * 6)));
  expect(before).toEqual({ neededBytes: 32 * 6 - 1 });
  expect(beyond).toBe("other");
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
