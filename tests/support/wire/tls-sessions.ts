// Certificates for tests, and TLS between the gateway and a client of Bun.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { ClientSocket } from "../../../src/gateway/sockets/client-socket.ts";
import type { TlsCertificates } from "../../../src/gateway/tls/certificates.ts";
import { runProgram } from "../clients/programs.ts";
import type { Loop } from "../gateway/loop.ts";

/** The options with which openssl(1) makes a usual key. */
export const ECDSA_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

/** A certificate and its key, in the PEM format. */
export interface Pair {
  cert: string;
  key: string;
}

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

/** A client of Bun over TCP, and its connection at the gateway. */
export class Connection {
  readonly client: TLSSocket;
  readonly stream: ClientSocket;
  /** The error of the client. */
  readonly faults: string[] = [];
  readonly #loop: Loop;

  private constructor(loop: Loop, client: TLSSocket, stream: ClientSocket) {
    this.#loop = loop;
    this.client = client;
    this.stream = stream;
    client.on("error", (error) => this.faults.push(`${error.name}: ${error.message}`));
  }

  static async open(
    loop: Loop,
    certificates: TlsCertificates,
    options: ConnectionOptions = {},
  ): Promise<Connection> {
    const client = connect({ port: loop.port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
    return new Connection(loop, client, await loop.accept({ certificates, mustStartTls: true }));
  }

  /** Does the handshake on both sides. @throws StreamEnded when it fails. */
  async handshake(alpn: readonly string[] = []): Promise<this> {
    await this.#loop.of(this.stream.startTls(alpn));
    await this.#loop.until(() => this.client.getPeerCertificate().raw !== undefined);
    return this;
  }

  /** The bytes that the gateway gets. */
  async read(length: number): Promise<string> {
    return Buffer.from(await this.#loop.of(this.stream.read(length))).toString();
  }

  close(): void {
    this.stream.close();
    this.client.destroy();
  }
}
