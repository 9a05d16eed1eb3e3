// Reports to the host how many clients of each instance have logged in, some time after a number has changed.
import type { GatewayMessage } from "../../contracts/gateway-link.ts";
import type { Timers } from "../sockets/timers.ts";

/** Clients come and go by the thousand; the host needs the number once a minute. */
const DELAY_MS = 2_000;
/** Far below the longest line that the host takes. */
const MOST_IN_A_MESSAGE = 500;

export class ClientCounts {
  readonly #timers: Pick<Timers, "after">;
  readonly #countOf: (id: string) => number;
  readonly #send: (message: Extract<GatewayMessage, { type: "clients" }>) => void;
  /** The numbers that the host has; instances without clients are left out. */
  readonly #sent = new Map<string, number>();
  readonly #changed = new Set<string>();
  #isDue = false;

  constructor(
    timers: Pick<Timers, "after">,
    countOf: (id: string) => number,
    send: (message: Extract<GatewayMessage, { type: "clients" }>) => void,
  ) {
    this.#timers = timers;
    this.#countOf = countOf;
    this.#send = send;
  }

  /** Clients of an instance may have come or gone. */
  note(id: string): void {
    this.#changed.add(id);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#timers.after(DELAY_MS, () => this.#report());
  }

  /** A host has connected that knows no numbers. */
  forget(ids: Iterable<string>): void {
    this.#sent.clear();
    for (const id of ids) if (this.#countOf(id) > 0) this.note(id);
  }

  #report(): void {
    this.#isDue = false;
    const counts = [...this.#changed]
      .map((id): [string, number] => [id, this.#countOf(id)])
      .filter(([id, count]) => count !== (this.#sent.get(id) ?? 0));
    this.#changed.clear();
    for (const [id, count] of counts) {
      if (count === 0) this.#sent.delete(id);
      else this.#sent.set(id, count);
    }
    for (let first = 0; first < counts.length; first += MOST_IN_A_MESSAGE) {
      const part = counts.slice(first, first + MOST_IN_A_MESSAGE);
      this.#send({ type: "clients", counts: Object.fromEntries(part) });
    }
  }
}
