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

/** Makes an account with a role, by an invitation that the given member makes. */
export async function memberOf(
  api: TestApi,
  inviter: Browser,
  role: string,
  email: string,
): Promise<Browser> {
  const made = await inviter.send("POST", "/invitations", { role });
  const secret = secretIn(String(made.body.data.attributes.link));
  const browser = new Browser(api);
  const body = { secret, email, name: role, password: PASSWORD };
  const { status } = await browser.send("POST", "/invitations/accept", body);
  if (status !== 201) throw new Error(`the invitation was not accepted: ${status}`);
  return browser;
}

/** The secret of a one-time link. */
export function secretIn(link: string): string {
  return new URL(link).hash.slice(1);
}
