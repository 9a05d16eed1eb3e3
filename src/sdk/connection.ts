// Sends requests to Pilvi's HTTP API, repeats them where that helps, and turns everything but success into errors.
import { PilviError, errorOfAnswer, errorOfLoss } from "./errors.ts";
import { type Outcome, retryOf } from "./retry.ts";

/** Waits before another attempt. The reason is for people; the signal ends the wait early by an error. */
export type Pause = (ms: number, reason: string, signal?: AbortSignal) => Promise<void>;

/** The address of Pilvi and the token. */
export interface ConnectionOptions {
  /** Without `/api`, such as `http://127.0.0.1:7458`; a page of the same server gives `location.origin`. */
  url: string;
  /** Left out by a page of the same server, whose requests carry the cookie of its session. */
  token?: string | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Used in place of a silent wait between attempts. */
  pause?: Pause;
}

/** Bytes that are sent as they come. */
export interface Upload {
  contentType: string;
  open(): ReadableStream<Uint8Array>;
}

/** One request; the path is below the API root. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: URLSearchParams;
  body?: unknown;
  /** Sent in the place of a body. It is opened anew for each attempt, since a stream can be read only once. */
  upload?: Upload;
  headers?: Record<string, string>;
  /**
   * Whether the request is not sent again after a lost connection or a 503, since it could have its effect twice: Pilvi
   * also answers so when it lost its store at the end of the request.
   */
  isOnce?: true;
  /** Whether a 429 stands, because a person waits who has to know of it. */
  isLimitFinal?: true;
  /** How long one attempt may take. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 30_000;

/** The connection to a Pilvi with one token, or with the session of the page. */
export class Connection {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #pause: Pause;

  constructor(options: ConnectionOptions) {
    this.#url = options.url.replace(/\/+$/, "");
    this.#token = options.token;
    // A browser refuses its `fetch` as a method of another object.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#pause = options.pause ?? pauseSilently;
  }

  /**
   * Sends a request.
   * @returns the answer's document, undefined for an answer without a document. Its shape is documented by the API.
   * @throws PilviError when the answer is not a success, PilviUnreachable when no answer came.
   */
  async send<Document>(request: ApiRequest): Promise<Document> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request);
      const retry = isFinal(request, outcome) ? undefined : retryOf(outcome, attempt);
      if (retry === undefined) return this.#documentOf(request, outcome, attempt) as Document;
      await this.#pause(retry.afterMs, retry.reason, request.signal);
    }
  }

  /**
   * Sends a request whose answer is read as it comes, and may never end.
   * @throws PilviError when the answer is not a success, PilviUnreachable when no answer came.
   */
  async open(request: ApiRequest): Promise<ReadableStream<Uint8Array>> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request, false);
      const retry = retryOf(outcome, attempt);
      if (retry !== undefined) await this.#pause(retry.afterMs, retry.reason, request.signal);
      else if ("response" in outcome && outcome.response.ok && outcome.response.body !== null)
        return outcome.response.body;
      else this.#documentOf(request, outcome, attempt);
    }
  }

  /** Waits between two requests of a caller that repeats them itself. */
  async pause(ms: number, reason: string, signal?: AbortSignal): Promise<void> {
    await this.#pause(ms, reason, signal);
  }

  /** @param isRead whether a success is read to its end, which the timeout then covers. */
  async #attempt(request: ApiRequest, isRead = true): Promise<Outcome> {
    const { method, path, query, upload, headers, signal, timeoutMs = TIMEOUT_MS } = request;
    const timeouts = isRead ? [AbortSignal.timeout(timeoutMs)] : [];
    const search = query === undefined || query.size === 0 ? "" : `?${query}`;
    try {
      const response = await this.#fetch(`${this.#url}/api${path}${search}`, {
        method,
        headers: {
          Accept: "application/json",
          ...(this.#token !== undefined && { Authorization: `Bearer ${this.#token}` }),
          ...contentTypeOf(request),
          ...headers,
        },
        body: bodyOf(request),
        // Node and browsers send a stream only with this, which means that they read no answer before its end.
        ...(upload !== undefined && { duplex: "half" }),
        signal: AbortSignal.any([...timeouts, ...(signal === undefined ? [] : [signal])]),
      });
      return { response, text: isRead || !response.ok ? await response.text() : "" };
    } catch (error) {
      // An abort by the caller is not a failure of the connection.
      signal?.throwIfAborted();
      return { error };
    }
  }

  #documentOf(request: ApiRequest, outcome: Outcome, attempt: number): unknown {
    if ("error" in outcome) throw errorOfLoss(this.#url, outcome.error);
    const { response, text } = outcome;
    // An earlier attempt whose answer was lost may have deleted the resource.
    if (response.status === 404 && request.method === "DELETE" && attempt > 1) return undefined;
    const requestId = response.headers.get("X-Request-Id") ?? undefined;
    if (!response.ok) throw errorOfAnswer(this.#url, response.status, text, requestId);
    if (text === "") return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new PilviError(`What answers at ${this.#url} is not Pilvi.`, response.status);
    }
  }
}

/** Whether an outcome stands, whatever a repetition could change. */
function isFinal({ isOnce, isLimitFinal }: ApiRequest, outcome: Outcome): boolean {
  const isLimit = "response" in outcome && outcome.response.status === 429;
  return isLimit ? isLimitFinal === true : isOnce === true;
}

function contentTypeOf({ body, upload }: ApiRequest): Record<string, string> {
  if (upload !== undefined) return { "Content-Type": upload.contentType };
  return body === undefined ? {} : { "Content-Type": "application/json" };
}

function bodyOf({ body, upload }: ApiRequest): Exclude<RequestInit["body"], undefined> {
  if (upload !== undefined) return upload.open();
  return body === undefined ? null : JSON.stringify(body);
}

async function pauseSilently(ms: number, _reason: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
