// A real edge with applications that mark their answers for shared caches, and count how often they are asked.
import { LoneEdge } from "./lone-edge.ts";

/** An answer is for all clients. */
export const SHARED = { "cache-control": "public, max-age=60" };
/** A policy with a cache. */
export const KEPT = { cacheVersion: "v1" };
/** The name of the route `a`, which leads to the application `app`. */
export const NAME = "a.localhost";

export interface Asking {
  name?: string;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

export class MarkedAnswers {
  readonly lone: LoneEdge;
  /** How often an application was asked. */
  asked = 0;
  /** The headers of their answers. */
  headers: Record<string, string> = SHARED;

  /** Starts an edge with the applications `app` and `other`. */
  static async start(): Promise<MarkedAnswers> {
    const answers = new MarkedAnswers(await LoneEdge.start());
    for (const id of ["app", "other"]) answers.lone.serve(id, (request) => answers.#answerOf(id, request));
    await answers.lone.route("a", [NAME], "app", 30, KEPT);
    return answers;
  }

  private constructor(lone: LoneEdge) {
    this.lone = lone;
  }

  /** What is answered, and whether no application was asked for it. */
  async ask({ name = NAME, path = "/", ...init }: Asking = {}) {
    const before = this.asked;
    const response = await this.lone.get(name, path, init);
    const text = (await response.text()).replace(/\.*$/, "").trim();
    return { status: response.status, text, headers: response.headers, isKept: this.asked === before };
  }

  /** Has the edge see a marked answer of a route. */
  async mark(name = NAME): Promise<void> {
    const present = this.headers;
    this.headers = SHARED;
    await this.ask({ name, path: "/marked" });
    this.headers = present;
  }

  /** Whether the second of two requests is answered by the cache. */
  async isKept(asking: Asking = {}): Promise<boolean> {
    await this.mark(asking.name);
    await this.ask(asking);
    return (await this.ask(asking)).isKept;
  }

  /** Asks for a path as it is written. */
  async raw(path: string): Promise<string> {
    return await this.lone.raw(`GET ${path} HTTP/1.1\r\nhost: ${NAME}\r\nconnection: close\r\n\r\n`);
  }

  #answerOf(id: string, { url, headers }: Request): Response {
    this.asked += 1;
    const text = `${id} ${this.asked} ${new URL(url).pathname} ${headers.get("x-forwarded-host")} `;
    return new Response(text.padEnd(2_000, "."), {
      headers: { "content-type": "text/html", ...this.headers },
    });
  }
}
