// TLS sessions of the gateway with their clients, and certificates for them.
import { ptr } from "bun:ffi";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { WANT_READ } from "../../../src/gateway/io-result.ts";
import type { TlsContext, TlsSession } from "../../../src/gateway/tls/index.ts";
import { OpenSslClient } from "./openssl-client.ts";
import { runProgram } from "../clients/programs.ts";
import { closeSocket, type RawListener, socketPair, turnsUntil } from "./raw-sockets.ts";

/** The library of the machine. */
export const LIBRARY = "libssl.so.3";

/** The options with which openssl(1) makes a usual key. */
export const ECDSA_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

/** A certificate and its key, in the PEM format. */
export interface Pair {
  cert: string;
  key: string;
}

/** The buffers that sessions read into and write from. */
export const buffer = new Uint8Array(new ArrayBuffer(65_536));
export const address = ptr(buffer);

/** Files of a test, removed by `remove`. */
export class CertificateFolder {
  readonly path = mkdtempSync(join(tmpdir(), "pilvi-tls-"));

  /** Makes a self-signed certificate, kept in `NAME.crt` and `NAME.key`. */
  async newPair(name: string, kind: string[] = ECDSA_KEY, host = "localhost"): Promise<Pair> {
    const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host},IP:127.0.0.1`];
    const files = ["-keyout", this.file(`${name}.key`), "-out", this.file(`${name}.crt`)];
    await runProgram(["openssl", "req", "-x509", "-nodes", "-days", "2", ...kind, ...files, ...names]);
    return { cert: this.read(`${name}.crt`), key: this.read(`${name}.key`) };
  }

  file(name: string): string {
    return join(this.path, name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), "utf8");
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** A session over TCP with a client of Bun. */
export class Connection {
  readonly client: TLSSocket;
  readonly session: TlsSession;
  readonly fd: number;
  /** The error of the client. */
  readonly faults: string[] = [];

  private constructor(client: TLSSocket, session: TlsSession, fd: number) {
    this.client = client;
    this.session = session;
    this.fd = fd;
    client.on("error", (error) => this.faults.push(`${error.name}: ${error.message}`));
  }

  static async open(
    listener: RawListener,
    context: TlsContext,
    { alpn = [], ...options }: ConnectionOptions & { alpn?: string[] } = {},
  ): Promise<Connection> {
    const client = connect({ port: listener.port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
    const fd = await listener.accept();
    return new Connection(client, context.session(fd, alpn), fd);
  }

  /** Continues the handshake to its end. */
  handshake(): Promise<"done" | "failed"> {
    return handshakeOf(this.session);
  }

  /** The next result of a read that is not pending, with its bytes. */
  async read(): Promise<{ count: number; bytes: Buffer }> {
    let count = WANT_READ;
    await turnsUntil(() => (count = this.session.read(address, buffer.length)) !== WANT_READ);
    return { count, bytes: Buffer.from(buffer.slice(0, Math.max(count, 0))) };
  }

  close(): void {
    this.session.free();
    closeSocket(this.fd);
    this.client.destroy();
  }
}

/** Continues a handshake to its end. */
export async function handshakeOf(session: TlsSession): Promise<"done" | "failed"> {
  let state = session.handshake();
  await turnsUntil(() => {
    if (state === "want-read" || state === "want-write") state = session.handshake();
    return state === "done" || state === "failed";
  });
  return state === "done" ? "done" : "failed";
}

/** A session whose client is in this process as well, after the handshake. */
export function openPair(context: TlsContext, alpn: string[] = []) {
  const [left, right] = socketPair();
  const session = context.session(left, alpn);
  const client = new OpenSslClient(right);
  let isDone = false;
  for (let turn = 0; turn < 10 && !isDone; turn += 1) {
    const isClientDone = client.handshake();
    isDone = session.handshake() === "done" && isClientDone;
  }
  if (!isDone) throw new Error("the handshake did not come to its end");
  const free = () => {
    session.free();
    client.free();
    for (const fd of [left, right]) closeSocket(fd);
  };
  return { session, client, clientFd: right, free };
}
