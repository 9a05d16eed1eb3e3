// Asks engines what runs in them and has them end it, with one question at a time for each instance.
import type {
  CancelAnswer,
  CancelScope,
  QueriesAnswer,
  QueriesRequest,
  RunningQuery,
  StatementsAnswer,
  StatementsRequest,
} from "../../contracts/queries.ts";
import { sessionOf, type EngineInspection } from "../../engines/inspection.ts";
import { PublicError } from "../../lib/errors.ts";
import { Mutex } from "../../lib/mutex.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { GatewayLink } from "../gateway/gateway-link.ts";
import type { Instance } from "./instance.ts";

/** How many questions about an instance may wait; the last of them waits as long as all before it may take. */
const MAX_WAITING = 4;

/** The questions about an instance. */
interface Line {
  mutex: Mutex;
  waiting: number;
}

export class Inspector {
  readonly #instances: ReadonlyMap<string, Instance>;
  readonly #gateway: () => Pick<GatewayLink, "addressesOf">;
  /** Engines reserve few connections for Pilvi, which sleep and measurements need as well. */
  readonly #lines = new Map<string, Line>();

  /** @param gateway knows the addresses of clients that the engine knows no address of. */
  constructor(instances: ReadonlyMap<string, Instance>, gateway: () => Pick<GatewayLink, "addressesOf">) {
    this.#instances = instances;
    this.#gateway = gateway;
  }

  /** @throws PublicError when the instance neither sleeps nor answers. */
  async queries(id: string, request: QueriesRequest): Promise<QueriesAnswer> {
    if (this.#isAsleep(id)) return { isAsleep: true, total: 0, queries: [] };
    return await this.#ask(id, async (inspection, { context }) => {
      const { total, queries } = await inspection.queries(context, request);
      return { isAsleep: false, total, queries: await this.#withAddresses(id, queries) };
    });
  }

  /** The queries with the addresses of clients that came through the gateway. */
  async #withAddresses(id: string, queries: RunningQuery[]): Promise<RunningQuery[]> {
    const sessions = queries.filter(({ address }) => address === null).map(sessionOf);
    const addresses = await this.#gateway().addressesOf(id, sessions);
    return queries.map((query) => ({
      ...query,
      address: query.address ?? addresses.get(sessionOf(query)) ?? null,
    }));
  }

  /** @throws PublicError when the instance neither sleeps nor answers, or keeps no statistics. */
  async statements(id: string, request: StatementsRequest): Promise<StatementsAnswer> {
    if (this.#isAsleep(id)) return { isAsleep: true, total: 0, since: null, statements: [] };
    const answer = await this.#ask(id, (inspection, { context }) =>
      inspection.statements?.(context, request),
    );
    if (answer === undefined) throw new PublicError(`${id} keeps no statistics of statements.`);
    return { isAsleep: false, ...answer };
  }

  /** @throws PublicError when the instance does not run or does not answer. */
  async resetStatements(id: string): Promise<void> {
    await this.#ask(id, (inspection, { context }) => inspection.resetStatements?.(context));
  }

  /** @throws PublicError when the instance neither sleeps nor answers. */
  async cancel(id: string, query: string, scope: CancelScope): Promise<CancelAnswer> {
    if (this.#isAsleep(id)) return { outcome: "ended" };
    const ask = (inspection: EngineInspection, { context }: Runnable) =>
      inspection.cancel(context, query, scope);
    return { outcome: await this.#ask(id, ask) };
  }

  #isAsleep(id: string): boolean {
    return this.#instances.get(id)?.observe().state === "asleep";
  }

  async #ask<T>(
    id: string,
    question: (inspection: EngineInspection, runnable: Runnable) => T | Promise<T>,
  ): Promise<T> {
    const line = this.#lines.get(id) ?? { mutex: new Mutex(), waiting: 0 };
    if (line.waiting >= MAX_WAITING)
      throw new PublicError(`${id} is busy with other questions about its queries. Try again soon.`);
    line.waiting += 1;
    this.#lines.set(id, line);
    try {
      return await line.mutex.run(async () => {
        const runnable = this.#instances.get(id)?.running;
        if (runnable === undefined) throw new PublicError(`${id} does not run.`);
        const { inspection } = runnable.engine;
        if (inspection === undefined) throw new PublicError(`${id} has no queries.`);
        return await question(inspection, runnable);
      });
    } catch (error) {
      if (error instanceof PublicError) throw error;
      throw new PublicError(`${id} does not answer questions about its queries.`, error);
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(id);
    }
  }
}
