// Statements that run through the API, for tests.
import type { QueryDocument } from "../../../src/resources/databases/schema.ts";
import { TOKEN, type Answer, type TestPilvi } from "./pilvi.ts";

/** The answer to a statement: its result, or why there is none. */
export type QueryAnswer = QueryDocument & {
  message?: string;
  errors?: Record<string, string[]>;
  engine?: { code: string; position: number | null };
};

export class Queries {
  readonly #pilvi: TestPilvi;
  readonly #path: string;

  private constructor(pilvi: TestPilvi, path: string) {
    this.#pilvi = pilvi;
    this.#path = path;
  }

  /** Statements in the oldest database of a cluster. */
  static async in(pilvi: TestPilvi, { id }: { id: string }): Promise<Queries> {
    const path = `/databases/clusters/${id}/databases`;
    const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", path);
    return new Queries(pilvi, `${path}/${body.data[0]?.id}/query`);
  }

  async answer(
    statement: string,
    members: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer<QueryAnswer>> {
    return await this.#pilvi.api<QueryAnswer>("POST", this.#path, { statement, ...members }, headers);
  }

  /** The result of a statement that works. */
  async result(statement: string, members: Record<string, unknown> = {}): Promise<QueryDocument["data"]> {
    const { status, body } = await this.answer(statement, members);
    if (status !== 200) throw new Error(`${statement}: ${status} ${JSON.stringify(body)}`);
    return body.data;
  }

  /** Runs a statement that may change something. */
  async write(statement: string): Promise<QueryDocument["data"]> {
    return await this.result(statement, { read_only: false });
  }

  /** Sends a statement whose caller can go away. */
  async send(statement: string, signal: AbortSignal): Promise<Response> {
    return await fetch(`${this.#pilvi.url}/api${this.#path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ statement }),
      signal,
    });
  }
}
