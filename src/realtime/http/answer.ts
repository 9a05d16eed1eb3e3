// The answers: JSON when all went well, else plain text that ends with a newline, as clients of the protocol expect.

/** A request that is refused, with the text that tells the client why. */
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

/** Any page may read the answers: they show only to whom they are signed for, and no cookie is involved. */
const CROSS_ORIGIN = { "Access-Control-Allow-Origin": "*" };

const jsonHeaders = new Headers({ "Content-Type": "application/json", ...CROSS_ORIGIN });
const done = new Response("{}", { headers: jsonHeaders });

/** The answer of what has nothing to tell. Copies of one are cheaper than new ones. */
export function emptyAnswer(): Response {
  // The types of undici and of Bun do not know of each other.
  return done.clone() as Response;
}

/** A document that is already JSON text. */
export function jsonAnswer(text: string): Response {
  return new Response(text, { headers: jsonHeaders });
}

/** The answer that tells a client why its request is refused. */
export function refusalAnswer({ status, message, allow }: HttpError): Response {
  return textAnswer(status, message, allow === null ? {} : { Allow: allow });
}

/** The answer when something failed here; the reason is not for the client. */
export function failureAnswer(): Response {
  return textAnswer(500, "The request could not be handled because of an error in the server.");
}

/** The answer to a browser that asks whether a page of another origin may send its request. */
export function preflightAnswer(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...CROSS_ORIGIN,
      "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Max-Age": "7200",
    },
  });
}

function textAnswer(status: number, message: string, headers: Record<string, string> = {}): Response {
  return new Response(`${message}\n`, {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      // The text may quote what the client sent, so nobody may take it for a page.
      "X-Content-Type-Options": "nosniff",
      ...CROSS_ORIGIN,
      ...headers,
    },
  });
}
