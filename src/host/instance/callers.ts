// Callers that wait for an answer about an instance, by their tickets in its lifecycle.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Ticket } from "../lifecycle/lifecycle.ts";

interface Caller {
  spec: InstanceSpec | undefined;
  /** Fulfilled when a power cut can no longer undo what was written for the caller. */
  durable: Promise<void>;
  resolve(observation: Observation): void;
  reject(error: unknown): void;
}

export class Callers {
  readonly #callers = new Map<Ticket, Caller>();
  #tickets = 0;

  /** @param spec the spec that an `ensure` carries. */
  enter(spec?: InstanceSpec): { ticket: Ticket; answer: Promise<Observation> } {
    const ticket = ++this.#tickets;
    const { promise, resolve, reject } = Promise.withResolvers<Observation>();
    this.#callers.set(ticket, { spec, durable: Promise.resolve(), resolve, reject });
    return { ticket, answer: promise };
  }

  /** @throws for a caller without a spec. */
  specOf(ticket: Ticket): InstanceSpec {
    const spec = this.#callers.get(ticket)?.spec;
    if (spec === undefined) throw new Error(`caller ${ticket} asks for no spec`);
    return spec;
  }

  /** Delays the answer to a caller until the write is durable. */
  keep(ticket: Ticket, durable: Promise<void>): void {
    const caller = this.#callers.get(ticket);
    if (caller !== undefined) caller.durable = durable;
  }

  /** Resolves when the write for a caller is durable. */
  async kept(ticket: Ticket): Promise<void> {
    await this.#callers.get(ticket)?.durable;
  }

  /** Answers with the observation of this moment, or with the error if there is one. */
  answer(tickets: readonly Ticket[], observe: () => Observation, error: unknown): void {
    for (const ticket of tickets) {
      const caller = this.#callers.get(ticket);
      this.#callers.delete(ticket);
      if (error === undefined) caller?.resolve(observe());
      else caller?.reject(error);
    }
  }
}
