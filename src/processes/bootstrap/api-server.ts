// The socket of the API: serves the application, with bounds on the connections that clients may have.
import type { App } from "../../api/app.ts";
import type { Config } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { leadToNewest } from "../../lib/newest-listener.ts";
import { openFileLimit, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { ServerConnections } from "../../lib/server-connections.ts";
import { portRefusal, refuseTakenPort } from "./port-refusal.ts";

/** Long enough for held answers, which `?wait=` makes last up to 60 s. */
const IDLE_TIMEOUT_SECONDS = 120;
/**
 * A listener with former certificates goes on with handshakes for this long; answers that it holds are given even
 * later.
 */
const HANDOVER_MS = 5_000;
/**
 * Connections of clients, and the largest share of all descriptors that they take: the rest is for the store and the
 * host.
 */
const MAX_CONNECTIONS = 16_384;
const CONNECTIONS_SHARE = 1 / 2;
/** The share of those connections that clients without a valid token may take. */
const UNPROVED_SHARE = 3 / 4;
const OPEN_FILES = 65_536;

type Server = Bun.Server<undefined>;

/** Raises the number of connections that this process may have; needs the rights that `becomeUser` gives up. */
export function prepareApiServer(): void {
  raiseOpenFileLimit(OPEN_FILES);
}

export class ApiServer {
  readonly #config: Config;
  readonly #app: App;
  readonly #connections: ServerConnections;
  #server: Server;
  /** The listener with former certificates, until its connections have ended or were taken over. */
  #former: Server | null = null;
  /** Certificates to show once the present handover is over. */
  #next: readonly NamedCertificate[] | null = null;

  /**
   * @param certificates the first is for clients that name no server or an unknown server; an empty list means HTTP.
   * @throws Refusal when the port cannot be had.
   */
  constructor(config: Config, certificates: readonly NamedCertificate[], app: App) {
    this.#config = config;
    this.#app = app;
    const all = Math.min(MAX_CONNECTIONS, Math.floor(openFileLimit() * CONNECTIONS_SHARE));
    const unproved = Math.floor(all * UNPROVED_SHARE);
    this.#connections = new ServerConnections(config.port, { all, unproved });
    // A listener that shares its address for a handover would also share it with another program of this user.
    refuseTakenPort(config);
    this.#server = this.#listen(certificates);
    this.#connections.start();
  }

  /** Shows these certificates to all later clients; requests that have begun are answered. */
  replaceCertificates(certificates: readonly NamedCertificate[]): void {
    if (this.#former !== null) return void (this.#next = certificates);
    const former = this.#server;
    this.#server = this.#listen(certificates);
    this.#former = former;
    this.#connections.deepen();
    leadToNewest(this.#config.port);
    setTimeout(() => this.#handedOver(former), HANDOVER_MS).unref();
  }

  /** Stops accepting. @param isHard whether requests under way end too. */
  async stop(isHard = false): Promise<void> {
    if (isHard) this.#connections.stop();
    await Promise.all([this.#server.stop(isHard), this.#former?.stop(isHard)]);
  }

  #handedOver(former: Server): void {
    void former.stop();
    this.#former = null;
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.replaceCertificates(next);
  }

  #listen(certificates: readonly NamedCertificate[]): Server {
    const tls = tlsOf(certificates);
    try {
      return Bun.serve({
        hostname: this.#config.host,
        port: this.#config.port,
        reusePort: tls.length > 0,
        idleTimeout: IDLE_TIMEOUT_SECONDS,
        fetch: async (request, server) => {
          const from = server.requestIP(request);
          const call = this.#connections.begin(from);
          try {
            return await this.#app.fetch(request, { prove: call.prove, address: from?.address ?? "" });
          } finally {
            call.end();
          }
        },
        // Bun's own answer to an error beyond the application shows code.
        development: false,
        error: () => Response.json({ message: "Something went wrong here." }, { status: 500 }),
        ...(tls.length === 0 ? {} : { tls }),
      });
    } catch (error) {
      throw portRefusal(this.#config, error);
    }
  }
}

/** The first certificate stands for all names that no other has. */
function tlsOf([first, ...others]: readonly NamedCertificate[]): Bun.TLSOptions[] {
  if (first === undefined) return [];
  const taken = new Set<string>();
  const named = [first, ...others].flatMap(({ names, cert, key }) =>
    names.flatMap((serverName) => {
      if (taken.has(serverName)) return [];
      taken.add(serverName);
      return [{ serverName, cert, key }];
    }),
  );
  return [{ cert: first.cert, key: first.key }, ...named];
}
