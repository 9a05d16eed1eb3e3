// What the edge writes about requests, how many of them it has left out, and what it counts.
import type { RouteUse } from "../../../engines/edge.ts";
import { accessSocket } from "../../os/layout.ts";
import { accessHead } from "./access-entries.ts";
import { AccessSocket } from "./access-socket.ts";
import type { EnvironmentLogs } from "./environment-logs.ts";

/** Takes figures of requests. */
interface RequestFigures {
  counted(usage: ReadonlyMap<string, Pick<RouteUse, "counted">>): void;
  answered(route: string, ms: number): void;
}

export class EdgeRequests {
  readonly #logs: Pick<EnvironmentLogs, "request" | "missed">;
  readonly #figures: RequestFigures;
  readonly #socket: AccessSocket;
  #counts = new Map<string, number>();

  constructor(dataDir: string, logs: Pick<EnvironmentLogs, "request" | "missed">, figures: RequestFigures) {
    this.#logs = logs;
    this.#figures = figures;
    this.#socket = new AccessSocket(accessSocket(dataDir), (line) => this.#take(line));
  }

  listen(): void {
    this.#socket.listen();
  }

  admit(uid: number): void {
    this.#socket.admit(uid);
  }

  /** Counts what has come since the last call. The edge forgets a route that nobody asks for. */
  counted(usage: ReadonlyMap<string, RouteUse>): void {
    this.#figures.counted(usage);
    const former = this.#counts;
    this.#counts = new Map([...usage].map(([route, { unlogged }]) => [route, unlogged]));
    for (const [route, count] of this.#counts) {
      const known = former.get(route) ?? 0;
      const missed = count >= known ? count - known : count;
      if (missed > 0) this.#logs.missed(route, missed);
    }
  }

  close(): void {
    this.#socket.close();
  }

  #take(line: string): void {
    const head = accessHead(line);
    if (head === null) return;
    if (head.answeredMs !== null) this.#figures.answered(head.route, head.answeredMs);
    this.#logs.request(head.route, line);
  }
}
