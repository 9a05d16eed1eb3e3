// The socket of the API: serves the application, with bounds on the connections that clients may have.
import type { App } from "../../api/app.ts";
import { Upgrade, upgradedSockets, type UpgradedSocket } from "../../api/http/upgrade.ts";
import type { Config } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { FairTurns } from "../../lib/fair-turns.ts";
import { LANES, leadByNetwork, leadToOne } from "../../lib/listener-lanes.ts";
import { openFileLimit, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { ServerConnections } from "../../lib/server-connections.ts";
import { UnderWay } from "../../lib/under-way.ts";
import { portRefusal, refuseTakenPort } from "./port-refusal.ts";

/** Long enough for held answers, which `?wait=` makes last up to 60 s. */
const IDLE_TIMEOUT_SECONDS = 120;
/**
 * Listeners with former certificates serve their connections for this long. Bun closes the idle connections of listeners
 * that end, and a client may send a request just then; so they end when the clients or the idle timeout have closed all
 * of those. Answers that are held are given even later.
 */
const HANDOVER_MS = IDLE_TIMEOUT_SECONDS * 1_000 + 5_000;
/** More certificates in so short a time wait. */
const MOST_FORMER = 8;
/**
 * Connections of clients, and the largest share of all descriptors that they take: the rest is for the store and the
 * host.
 */
const MAX_CONNECTIONS = 16_384;
const CONNECTIONS_SHARE = 1 / 2;
/** The share of those connections that clients without a valid token may take. */
const UNPROVED_SHARE = 3 / 4;
/** The share of all connections whose requests may be under way for one organization, or with the same credentials. */
const UNDER_WAY_SHARE = 1 / 8;
const OPEN_FILES = 65_536;
/**
 * The largest body of any request, the source of an application; operations with other bodies refuse far smaller ones.
 * Bun takes a body from the kernel only as it is read.
 */
const MAX_REQUEST_BYTES = 1024 ** 3;

const CROWDED = "Too many connections come from this address without a valid token. Try again soon.";
const TOO_MANY_UNDER_WAY =
  "Too many requests with these credentials are under way at once. Try again when some are answered.";

type Server = Bun.Server<UpgradedSocket>;

/** The listeners that show the same certificates, one for each lane. */
interface Generation {
  servers: Server[];
  /** Others show the present certificates. */
  isFormer: boolean;
}

/** Raises the number of connections that this process may have; needs the rights that `becomeUser` gives up. */
export function prepareApiServer(): void {
  raiseOpenFileLimit(OPEN_FILES);
}

/** What tests make smaller. */
export interface ApiServerBounds {
  /** For how long former listeners serve their connections. */
  handoverMs?: number;
  /** Requests that are under way at once for one organization, or with the same credentials. */
  mostUnderWay?: number;
}

export class ApiServer {
  readonly #config: Config;
  readonly #app: Pick<App, "fetch">;
  readonly #connections: ServerConnections;
  readonly #turns = new FairTurns();
  readonly #underWay: UnderWay;
  readonly #handoverMs: number;
  /** In the order in which the kernel numbers their listeners. */
  #generations: Generation[] = [];
  /** Certificates to show once there is room for another generation. */
  #next: readonly NamedCertificate[] | null = null;

  /**
   * @param certificates the first is for clients that name no server or an unknown server; an empty list means HTTP.
   * @throws Refusal when the port cannot be had.
   */
  constructor(
    config: Config,
    certificates: readonly NamedCertificate[],
    app: Pick<App, "fetch">,
    bounds: ApiServerBounds = {},
  ) {
    this.#config = config;
    this.#app = app;
    this.#handoverMs = bounds.handoverMs ?? HANDOVER_MS;
    const all = Math.min(MAX_CONNECTIONS, Math.floor(openFileLimit() * CONNECTIONS_SHARE));
    const unproved = Math.floor(all * UNPROVED_SHARE);
    this.#underWay = new UnderWay(bounds.mostUnderWay ?? Math.ceil(all * UNDER_WAY_SHARE));
    this.#connections = new ServerConnections(config.port, { all, unproved });
    // Listeners that share their address would also share it with another program of this user.
    refuseTakenPort(config);
    this.#generations.push(this.#listen(certificates));
    leadByNetwork(config.port);
    this.#connections.start();
  }

  /** Shows these certificates to all later clients; connections with former certificates go on. */
  replaceCertificates(certificates: readonly NamedCertificate[]): void {
    if (this.#generations.length > MOST_FORMER) return void (this.#next = certificates);
    const former = this.#generations.filter(({ isFormer }) => !isFormer);
    this.#generations.push(this.#listen(certificates));
    leadByNetwork(this.#config.port, (this.#generations.length - 1) * LANES);
    for (const generation of former) {
      generation.isFormer = true;
      setTimeout(() => this.#end(generation), this.#handoverMs).unref();
    }
  }

  /** Stops accepting. @param isHard whether requests under way end too. */
  async stop(isHard = false): Promise<void> {
    if (isHard) this.#connections.stop();
    const servers = this.#generations.flatMap((generation) => generation.servers);
    await Promise.all(servers.map((server) => server.stop(isHard)));
  }

  /** Ends former listeners. In the kernel's order, each listener that ends gives its number to the last listener. */
  #end(generation: Generation): void {
    const { port } = this.#config;
    const last = this.#generations.length - 1;
    if (this.#generations[last]?.isFormer === false) leadToOne(port, last * LANES);
    for (const server of generation.servers) void server.stop();
    const moved = this.#generations.pop();
    if (moved !== undefined && moved !== generation)
      this.#generations[this.#generations.indexOf(generation)] = moved;
    leadByNetwork(port, this.#generations.findIndex(({ isFormer }) => !isFormer) * LANES);
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.replaceCertificates(next);
  }

  /** @returns undefined for a connection that has become a WebSocket, which counts as a request under way. */
  async #serve(request: Request, server: Server, generation: Generation): Promise<Response | undefined> {
    const from = server.requestIP(request);
    const call = this.#connections.begin(from);
    const claim = this.#underWay.begin();
    const end = () => {
      claim.end();
      call.end();
    };
    const upgrade = new Upgrade(request, server, end);
    try {
      if (call.isRefused) return refusal(503, CROWDED);
      const credentials = credentialsIn(request);
      // Without any work on it, so that a flood takes as little of the processor as it can.
      if (!claim.countFor("credentials", credentials)) return refusal(429, TOO_MANY_UNDER_WAY);
      const turn = this.#turns.take(call.network, credentials);
      if (turn !== null) await turn;
      const prove = (owner: string) => {
        call.prove(owner);
        return claim.countFor("organization", owner);
      };
      const caller = { prove, address: from?.address ?? "", upgrade: upgrade.run };
      const response = await this.#app.fetch(request, caller);
      if (upgrade.isDone) return undefined;
      // The client's next request then comes to a listener that stays.
      if (generation.isFormer) response.headers.set("Connection", "close");
      return response;
    } finally {
      if (!upgrade.isDone) end();
    }
  }

  #listen(certificates: readonly NamedCertificate[]): Generation {
    const generation: Generation = { servers: [], isFormer: false };
    const tls = tlsOf(certificates);
    try {
      for (let lane = 0; lane < LANES; lane += 1) generation.servers.push(this.#listenOnce(tls, generation));
    } catch (error) {
      for (const server of generation.servers) void server.stop();
      throw error;
    }
    return generation;
  }

  #listenOnce(tls: Bun.TLSOptions[], generation: Generation): Server {
    try {
      return Bun.serve({
        hostname: this.#config.host,
        port: this.#config.port,
        reusePort: true,
        idleTimeout: IDLE_TIMEOUT_SECONDS,
        maxRequestBodySize: MAX_REQUEST_BYTES,
        fetch: (request, server) => this.#serve(request, server, generation),
        websocket: upgradedSockets,
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

function refusal(status: 429 | 503, message: string): Response {
  return Response.json({ message }, { status, headers: { "Retry-After": "1", Connection: "close" } });
}

/** Distinguishes clients before anything is proved; empty for a client that shows no credentials. */
function credentialsIn({ headers }: Request): string {
  return headers.get("authorization") ?? headers.get("cookie") ?? "";
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
