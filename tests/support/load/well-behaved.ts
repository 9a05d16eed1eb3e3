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
  places: WellBehavedPlace[],
  action: (clients: { readonly uses: number }[]) => Promise<unknown>,
): Promise<Experience[]> {
  const clients = places.map((place) => new HonestClient(place));
  try {
    await Promise.all(clients.map((client) => client.served));
    await action(clients);
  } finally {
    for (const client of clients) client.end();
  }
  return await Promise.all(clients.map(async (client) => experienceOf(await client.said)));
}

class HonestClient {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "inherit">;
  readonly #served = Promise.withResolvers<void>();
  /** Its whole output. */
  readonly said: Promise<string>;

  constructor({ protocol, port, password }: WellBehavedPlace) {
    this.#child = Bun.spawn([process.execPath, PROGRAM, protocol, String(port), password], {
      env: { PATH: process.env.PATH ?? "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.said = this.#receive();
  }

  /** How often it was served. */
  uses = 0;

  /** It was served for the first time. */
  get served(): Promise<void> {
    return this.#served.promise;
  }

  end(): void {
    this.#child.kill("SIGTERM");
  }

  async #receive(): Promise<string> {
    let said = "";
    for await (const bytes of this.#child.stdout) {
      const text = new TextDecoder().decode(bytes);
      this.uses += text.split("\n").length - 1;
      said += text;
      this.#served.resolve();
    }
    this.#served.resolve();
    return said;
  }
}

function experienceOf(printed: string): Experience {
  const { ms, failures, retransmissions } = JSON.parse(printed) as {
    ms: number[];
    failures: string[];
    retransmissions: number;
  };
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
