// The socket of the API: serves the application, with bounds on the connections that clients may have.
import type { App } from "../../api/app.ts";
import type { Config } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { LANES, leadByNetwork, leadToOne } from "../../lib/listener-lanes.ts";
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
  /** One for each lane. */
  #listeners: Server[];
  /** The listeners with former certificates, while handshakes with them go on. */
  #former: Server[] = [];
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
    // Listeners that share their address would also share it with another program of this user.
    refuseTakenPort(config);
    this.#listeners = this.#listen(certificates);
    leadByNetwork(config.port);
    this.#connections.start();
  }

  /** Shows these certificates to all later clients; requests that have begun are answered. */
  replaceCertificates(certificates: readonly NamedCertificate[]): void {
    if (this.#former.length > 0) return void (this.#next = certificates);
    this.#former = this.#listeners;
    this.#listeners = this.#listen(certificates);
    leadByNetwork(this.#config.port, LANES);
    setTimeout(() => this.#handedOver(), HANDOVER_MS).unref();
  }

  /** Stops accepting. @param isHard whether requests under way end too. */
  async stop(isHard = false): Promise<void> {
    if (isHard) this.#connections.stop();
    await Promise.all([...this.#listeners, ...this.#former].map((listener) => listener.stop(isHard)));
  }

  #handedOver(): void {
    // The numbers of the listeners change with each that ends.
    leadToOne(this.#config.port, LANES);
    for (const former of this.#former.splice(0)) void former.stop();
    leadByNetwork(this.#config.port);
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.replaceCertificates(next);
  }

  #listen(certificates: readonly NamedCertificate[]): Server[] {
    const tls = tlsOf(certificates);
    return Array.from({ length: LANES }, () => this.#listenOnce(tls));
  }

  #listenOnce(tls: Bun.TLSOptions[]): Server {
    try {
      return Bun.serve({
        hostname: this.#config.host,
        port: this.#config.port,
        reusePort: true,
        idleTimeout: IDLE_TIMEOUT_SECONDS,
        fetch: async (request, server) => {
          const from = server.requestIP(request);
          const call = this.#connections.begin(from);
          try {
            if (call.isRefused) return refusal();
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

function refusal(): Response {
  const message = "Too many connections come from this address without a valid token. Try again soon.";
  return Response.json({ message }, { status: 503, headers: { "Retry-After": "1", Connection: "close" } });
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
