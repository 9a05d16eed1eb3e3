// TLS of the gateway's clients, against clients of Bun and of OpenSSL.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect as connectTcp, createServer } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { runProgram } from "../support/clients/programs.ts";
import { Loop } from "../support/gateway/loop.ts";
import { tlsClient } from "../support/wire/tls-peer.ts";
import { CertificateFolder, Connection } from "../support/wire/tls-sessions.ts";

/** The growth of this process by a thousand sessions that are freed. */
const MOST_GROWTH = 16 * 2 ** 20;

const folder = new CertificateFolder();
let certificates: TlsCertificates;
let loop: Loop;

beforeAll(async () => {
  certificates = new TlsCertificates(await folder.newPair("main"));
});
afterAll(() => folder.remove());
beforeEach(() => {
  loop = new Loop();
});
afterEach(() => {
  expect(loop.faults).toEqual([]);
  loop.close();
});

function open(options: ConnectionOptions = {}): Promise<Connection> {
  return Connection.open(loop, certificates, options);
}

describe.each(["TLSv1.2", "TLSv1.3"] as const)("%s", (version) => {
  const versions = { minVersion: version, maxVersion: version };

  test("bytes go both ways, and the client's name and protocol are known", async () => {
    const names = { servername: "DB.Example.com", ALPNProtocols: ["h2", "postgresql"] };
    const connection = await open({ ...versions, ...names });
    await connection.handshake(["postgresql"]);
    const { client, stream } = connection;
    expect(stream.tls).toMatchObject({ serverName: "db.example.com", alpn: "postgresql" });
    await loop.until(() => client.alpnProtocol !== null);
    expect([client.getProtocol(), client.alpnProtocol]).toEqual([version, "postgresql"]);
    client.write("from the client");
    expect(await connection.read(15)).toBe("from the client");
    const answer = new Promise<Buffer>((resolve) => client.once("data", resolve));
    stream.write(Buffer.from("from the server"));
    expect(String(await loop.of(answer))).toBe("from the server");
    connection.close();
  });

  test("a client that names no protocol and no server is accepted", async () => {
    const connection = await open(versions);
    await connection.handshake(["postgresql"]);
    expect(connection.stream.tls).toMatchObject({ serverName: null, alpn: null });
    connection.close();
  });

  test("a client that names other protocols only gets an alert and is refused", async () => {
    const option = { "TLSv1.2": "-tls1_2", "TLSv1.3": "-tls1_3" }[version];
    const says = refusalOf([option, "-alpn", "h2,http/1.1"], ["postgresql"]);
    expect(await says).toContain("no application protocol");
  });

  test("a server without protocols of its own refuses no client for naming some", async () => {
    const connection = await open({ ...versions, ALPNProtocols: ["h2"] });
    await connection.handshake();
    expect(connection.stream.tls?.alpn).toBeNull();
    connection.close();
  });

  test("the handshake and what follows may arrive a byte at a time", async () => {
    const dribble = createServer((from) => {
      const to = connectTcp(loop.port, "127.0.0.1").setNoDelay();
      void forwardBytewise(from, to);
      to.on("data", (bytes: Buffer) => from.write(bytes)).on("error", () => undefined);
      from.on("error", () => undefined).on("close", () => to.destroy());
    });
    await new Promise<void>((resolve) => dribble.listen(0, "127.0.0.1", resolve));
    const { port } = dribble.address() as { port: number };
    const connection = await open({ ...versions, port });
    await connection.handshake();
    connection.client.write("slowly");
    expect(await connection.read(6)).toBe("slowly");
    connection.close();
    dribble.close();
  });

  test("each side is notified of the other's end", async () => {
    const connection = await open(versions);
    await connection.handshake();
    const { client, stream, faults } = connection;
    const ended = new Promise<void>((resolve) => client.once("end", resolve).resume());
    stream.end();
    await loop.of(ended);
    client.end();
    await loop.until(() => stream.fd === -1);
    expect(faults).toEqual([]);
    connection.close();
    const other = await open(versions);
    await other.handshake();
    other.client.end();
    expect(await loop.rejectionOf(other.stream.read(1))).toBeInstanceOf(StreamEnded);
    other.close();
  });

  test("a session cannot be resumed", async () => {
    const connection = await open(versions);
    let tickets = 0;
    connection.client.on("session", () => (tickets += 1));
    await connection.handshake();
    connection.client.write("x");
    expect(await connection.read(1)).toBe("x");
    expect([connection.client.isSessionReused(), connection.client.getTLSTicket() ?? null]).toEqual([
      false,
      null,
    ]);
    if (version === "TLSv1.3") expect(tickets).toBe(0);
    connection.close();
  });
});

test("TLS 1.1 is refused", async () => {
  expect(await refusalOf(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])).toContain("protocol version");
});

test("bytes that are not TLS fail their own handshake alone", async () => {
  const { client: stream, peer } = await loop.client({ certificates, mustStartTls: false });
  const rejection = loop.rejectionOf(stream.startTls());
  peer.send("GET / HTTP/1.1\r\n\r\n");
  expect(await rejection).toBeInstanceOf(StreamEnded);
  const connection = await open();
  await connection.handshake();
  connection.client.write("still fine");
  expect(await connection.read(10)).toBe("still fine");
  connection.close();
  peer.close();
});

test("bytes that arrive with the end of the handshake are read", async () => {
  const { client, peer } = await tlsClient(loop, certificates);
  for (let record = 0; record < 100; record += 1) peer.send(new Uint8Array(10).fill(record));
  const bytes = await loop.of(client.read(1_000));
  expect([bytes[0], bytes[999]]).toEqual([0, 99]);
  peer.send("the last words");
  peer.shutdown();
  expect(Buffer.from(await loop.of(client.read(14))).toString()).toBe("the last words");
  expect(await loop.rejectionOf(client.read(1))).toBeInstanceOf(StreamEnded);
  client.end();
  peer.close();
});

test("a thousand handshakes leave nothing behind", async () => {
  let before = await residentAfter(500);
  const growths: number[] = [];
  // Sessions that are not freed keep some 40 kB each, in every round; garbage that was not collected yet does not.
  while (growths.length < 3 && Math.min(...growths) >= MOST_GROWTH) {
    const after = await residentAfter(1_000);
    growths.push(after - before);
    before = after;
  }
  expect(Math.min(...growths)).toBeLessThan(MOST_GROWTH);
}, 240_000);

/** The memory of this process after so many sessions. */
async function residentAfter(handshakes: number): Promise<number> {
  for (let index = 0; index < handshakes; index += 1) {
    const { client, peer } = await tlsClient(loop, certificates);
    client.close();
    peer.close();
  }
  await loop.rest();
  Bun.gc(true);
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
}

/** The report of OpenSSL's client about a handshake that fails. */
async function refusalOf(options: string[], alpn: string[] = []): Promise<string> {
  const target = ["-connect", `127.0.0.1:${loop.port}`];
  const said = runProgram(["openssl", "s_client", ...target, ...options]).catch(
    (error: Error) => error.message,
  );
  const stream = await loop.accept({ certificates, mustStartTls: true });
  expect(await loop.rejectionOf(stream.startTls(alpn))).toBeInstanceOf(StreamEnded);
  const report = await loop.of(said);
  stream.close();
  return report;
}

async function forwardBytewise(from: NodeJS.ReadableStream, to: NodeJS.WritableStream): Promise<void> {
  for await (const chunk of from) {
    for (const byte of Buffer.from(chunk)) {
      to.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
