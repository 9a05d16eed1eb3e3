// Well-behaved clients beside a hostile load, each a process of its own, and their waiting times.
import { resolve } from "node:path";
import type { Place } from "./hostile-load.ts";

/**
 * The target of a well-behaved client: an instance, the API with a token, or a WebSocket cluster with the key of an
 * application.
 */
export type WellBehavedPlace = Pick<Place, "port" | "password"> & {
  protocol: Place["protocol"] | "api" | "websocket";
};

const PROGRAM = resolve(import.meta.dir, "well-behaved-client.ts");

/** A line that the program of a well-behaved client prints. */
export interface ClientLine {
  ms?: number;
  failure?: string;
  retransmissions?: number;
}

/** A well-behaved client so far. */
export interface WellBehavedClient {
  /** How long each use took. */
  readonly ms: readonly number[];
  readonly failures: readonly string[];
}

/** The durations and failures of a well-behaved client. */
export interface Experience {
  uses: number;
  medianMs: number;
  longestMs: number;
  failures: string[];
  /** How often in a row its kernel had to send the same bytes again, at most. */
  retransmissions: number;
}

/** Runs a well-behaved client for each target again and again while an action runs. */
export async function besideWellBehaved(
  places: readonly WellBehavedPlace[],
  action: (clients: readonly WellBehavedClient[]) => Promise<unknown>,
): Promise<Experience[]> {
  const clients = places.map((place) => new HonestClient(place));
  try {
    await Promise.all(clients.map((client) => client.served));
    await action(clients);
  } finally {
    for (const client of clients) client.end();
  }
  await Promise.all(clients.map((client) => client.ended));
  return clients.map(experienceOf);
}

class HonestClient implements WellBehavedClient {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "inherit">;
  readonly #served = Promise.withResolvers<void>();
  readonly ms: number[] = [];
  readonly failures: string[] = [];
  retransmissions = 0;
  /** Its program has ended, and all its lines are read. */
  readonly ended: Promise<void>;

  constructor({ protocol, port, password }: WellBehavedPlace) {
    this.#child = Bun.spawn([process.execPath, PROGRAM, protocol, String(port), password], {
      env: { PATH: process.env.PATH ?? "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.ended = this.#receive();
  }

  /** It was served, or refused, for the first time. */
  get served(): Promise<void> {
    return this.#served.promise;
  }

  end(): void {
    this.#child.kill("SIGTERM");
  }

  async #receive(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of this.#child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as ClientLine);
    }
    this.#served.resolve();
  }

  #take({ ms, failure, retransmissions }: ClientLine): void {
    if (ms !== undefined) this.ms.push(ms);
    if (failure !== undefined) this.failures.push(failure);
    this.retransmissions = retransmissions ?? this.retransmissions;
    this.#served.resolve();
  }
}

function experienceOf({ ms, failures, retransmissions }: HonestClient): Experience {
  const sorted = ms.toSorted((a, b) => a - b);
  return {
    uses: ms.length,
    medianMs: rounded(sorted[sorted.length >> 1]),
    longestMs: rounded(sorted.at(-1)),
    failures,
    retransmissions,
  };
}

/** Rounded to the tenth. */
function rounded(ms = 0): number {
  return Math.round(ms * 10) / 10;
}
