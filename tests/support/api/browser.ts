// A browser for tests of the API: keeps the cookie of its session, and names its page as the origin of requests.
import { createSetUpLink } from "../../../src/resources/accounts/index.ts";
import type { TestApi } from "./api.ts";

export const PASSWORD = "correct horse battery";

/** The members of answers that these tests read. */
export interface Answer {
  data: {
    id: string;
    type: string;
    attributes: Record<string, unknown>;
    meta: Record<string, unknown>;
  };
  message?: string;
  errors?: Record<string, string[]>;
}

/** An answer with its document read; an answer without one has an empty one. */
export interface Read {
  status: number;
  headers: Headers;
  body: Answer;
}

export class Browser {
  readonly #api: TestApi;
  /** The pair `name=value`, as the server set it last. */
  cookie: string | undefined;

  constructor(api: TestApi) {
    this.#api = api;
  }

  /** Sends a request as a page of the API's own address would. */
  async send(
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Read> {
    const response = await fetch(`${this.#api.origin}/api${path}`, {
      method,
      headers: {
        Origin: this.#api.origin,
        ...(this.cookie !== undefined && { Cookie: this.cookie }),
        ...(json !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.includes("Max-Age=0") ? undefined : set.split(";")[0];
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? {} : JSON.parse(text)) as Answer,
    };
  }

  async signIn(email: string, password = PASSWORD): Promise<Read> {
    return await this.send("POST", "/sessions", { email, password });
  }
}

/** Makes the account of the owner, by the link that the first start prints. */
export async function ownerOf(api: TestApi, email = "ada@example.com"): Promise<Browser> {
  const browser = new Browser(api);
  const secret = await createSetUpLink(api.db);
  const body = { secret, email, name: "Ada", password: PASSWORD };
  const { status } = await browser.send("POST", "/sign-in-links/redeem", body);
  if (status !== 201) throw new Error(`the first account was not made: ${status}`);
  return browser;
}
