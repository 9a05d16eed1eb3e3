// What the edge writes about requests, and how many it has left out.
import { accessSocket } from "../../os/layout.ts";
import { AccessSocket } from "./access-socket.ts";
import type { EnvironmentLogs } from "./environment-logs.ts";

export class EdgeRequests {
  readonly #logs: Pick<EnvironmentLogs, "request" | "missed">;
  readonly #socket: AccessSocket;
  #counts = new Map<string, number>();

  constructor(dataDir: string, logs: Pick<EnvironmentLogs, "request" | "missed">) {
    this.#logs = logs;
    this.#socket = new AccessSocket(accessSocket(dataDir), (line) => logs.request(line));
  }

  listen(): void {
    this.#socket.listen();
  }

  admit(uid: number): void {
    this.#socket.admit(uid);
  }

  /** Counts what the edge has left out since the last call. The edge forgets a route that nobody asks for. */
  unlogged(counts: ReadonlyMap<string, { unlogged: number }>): void {
    const former = this.#counts;
    this.#counts = new Map([...counts].map(([route, { unlogged }]) => [route, unlogged]));
    for (const [route, count] of this.#counts) {
      const known = former.get(route) ?? 0;
      const missed = count >= known ? count - known : count;
      if (missed > 0) this.#logs.missed(route, missed);
    }
  }

  close(): void {
    this.#socket.close();
  }
}
