// The documentation for people: the OpenAPI document, and a page that renders it without requests to other hosts.
import { resolve } from "node:path";
import { type Context, Hono } from "hono";
import scriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { requestsOf } from "../openapi/requests.ts";
import { API_ROOT } from "../operation/address.ts";
import { compress, encodingFor, type Encoding } from "./encodings.ts";
import type { RequestNotes } from "./execute.ts";
import type { OpenApiDocument } from "../openapi/openapi.ts";
import { urlOf } from "./request-url.ts";
import { PAGE_POLICY } from "./security.ts";

const page = (title: string, head: string, body: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${head}</head>
<body>${body}</body>
</html>
`;

const docsPage = page(
  "Pilvi API",
  `<link rel="stylesheet" href="/docs/style.css">`,
  `<div id="docs"></div><script src="/docs/script.js"></script><script src="/docs/start.js"></script>`,
);

const startScript = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  persistAuthorization: false,
});
`;

/** A document or file under its path, with its content type. */
type Page = [path: string, contentType: string, body: () => string | Bun.BunFile];

/** In the source an imported file is an absolute path, in a bundle a path relative to the bundle. */
const fileAt = (path: string) => Bun.file(resolve(import.meta.dir, path));

const pages: Page[] = [
  ["/docs", "text/html; charset=utf-8", () => docsPage],
  ["/docs/style.css", "text/css; charset=utf-8", () => fileAt(stylePath)],
  ["/docs/script.js", "text/javascript; charset=utf-8", () => fileAt(scriptPath)],
  ["/docs/start.js", "text/javascript; charset=utf-8", () => startScript],
];

/** Compressed texts that are kept, and the most that are made in a minute: a client may ask under any port. */
const MAX_TEXTS = 16;
const MINUTE_MS = 60_000;

class DocumentTexts {
  readonly #compressed = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  #minute = 0;
  #madeInMinute = 0;

  /** Answers with a text: compressed, or as it is while too many have been compressed lately. */
  async answer(context: Context<RequestNotes>, name: string, text: string): Promise<Response> {
    context.header("Content-Type", "application/json");
    context.header("Vary", "Accept-Encoding");
    const encoding = encodingFor(context.req.header("accept-encoding") ?? "");
    const compressed = encoding && this.#compressedIn(encoding, name, text);
    if (encoding === undefined || compressed === undefined) return context.body(text);
    context.header("Content-Encoding", encoding.name);
    return context.body(await compressed);
  }

  #compressedIn(
    encoding: Encoding,
    name: string,
    text: string,
  ): Promise<Uint8Array<ArrayBuffer>> | undefined {
    const key = `${encoding.name} ${name}`;
    const known = this.#compressed.get(key);
    if (known !== undefined || !this.#hasTurn()) return known;
    const [oldest] = this.#compressed.keys();
    if (this.#compressed.size >= MAX_TEXTS && oldest !== undefined) this.#compressed.delete(oldest);
    const made = compress(text, encoding);
    this.#compressed.set(key, made);
    return made;
  }

  #hasTurn(): boolean {
    const minute = Math.floor(performance.now() / MINUTE_MS);
    if (minute !== this.#minute) [this.#minute, this.#madeInMinute] = [minute, 0];
    this.#madeInMinute += 1;
    return this.#madeInMinute <= MAX_TEXTS;
  }
}

/**
 * The routes of the documentation.
 * @param makeDocument is called for the first reader: the document takes a tenth of a second, which a start can spare.
 */
export function docsRoutes(makeDocument: () => OpenApiDocument): Hono<RequestNotes> {
  const app = new Hono<RequestNotes>();
  let plain: Record<"all" | "requests", string> | undefined;
  const texts = new DocumentTexts();
  app.get("/openapi.json", async (context) => {
    context.set("route", "/openapi.json");
    plain ??= textsOf(makeDocument());
    if (context.req.query("part") === "requests")
      return await texts.answer(context, "requests", plain.requests);
    const { origin } = urlOf(context.req.raw);
    return await texts.answer(context, `all ${origin}`, servedAt(origin, plain.all));
  });
  for (const [path, contentType, body] of pages) {
    app.get(path, async (context) => {
      context.set("route", path);
      const content = body();
      context.header("Content-Type", contentType);
      context.header("Content-Security-Policy", PAGE_POLICY);
      return context.body(typeof content === "string" ? content : await content.bytes());
    });
  }
  return app;
}

function textsOf(document: OpenApiDocument): Record<"all" | "requests", string> {
  return { all: JSON.stringify(document), requests: JSON.stringify(requestsOf(document)) };
}

/** The document with its server: the address that the client used works for that client. */
function servedAt(origin: string, document: string): string {
  const servers = JSON.stringify([{ url: origin + API_ROOT }]);
  return `${document.slice(0, -1)},"servers":${servers}}`;
}
