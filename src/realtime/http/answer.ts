// The answers: JSON on success, otherwise plain text that ends with a newline, as clients of the protocol expect.

/** A refusal of a request, with the reason for the client. */
export class HttpError extends Error {
  override name = "HttpError";
  readonly status: number;
  /** The methods that would have been right, when the method was wrong. */
  readonly allow: string | null;

  constructor(status: number, message: string, allow: string | null = null) {
    super(message);
    this.status = status;
    this.allow = allow;
  }
}

/** Any page may read the answers: a request needs a signature, and no cookie is involved. */
const CROSS_ORIGIN = { "Access-Control-Allow-Origin": "*" };

const jsonHeaders = new Headers({ "Content-Type": "application/json", ...CROSS_ORIGIN });
const done = new Response("{}", { headers: jsonHeaders });

/** The answer without content. A copy of it is cheaper than a new response. */
export function emptyAnswer(): Response {
  // The types of undici and of Bun do not know each other.
  return done.clone() as Response;
}

/** A document that is already JSON text. */
export function jsonAnswer(text: string): Response {
  return new Response(text, { headers: jsonHeaders });
}

/** The answer that gives a client the reason for a refusal. */
export function refusalAnswer({ status, message, allow }: HttpError): Response {
  return textAnswer(status, message, allow === null ? {} : { Allow: allow });
}

/** The answer to a fault of the server; the cause is not for the client. */
export function failureAnswer(): Response {
  return textAnswer(500, "The request could not be handled because of an error in the server.");
}

/**
 * The answer to a browser's question whether a page of another origin may send its request. It ends the connection: anybody
 * may ask, and Bun keeps any number of answers without a body in memory for a client that reads none.
 */
export function preflightAnswer(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...CROSS_ORIGIN,
      "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Max-Age": "7200",
      Connection: "close",
    },
  });
}

function textAnswer(status: number, message: string, headers: Record<string, string> = {}): Response {
  return new Response(`${message}\n`, {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      // The text may quote the client's request, so no browser may take it for a page.
      "X-Content-Type-Options": "nosniff",
      ...CROSS_ORIGIN,
      ...headers,
    },
  });
}
