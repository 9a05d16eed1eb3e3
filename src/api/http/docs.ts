// The documentation for people: the OpenAPI document, and a page that renders it without requests to other hosts.
import { resolve } from "node:path";
import { type Context, Hono } from "hono";
import scriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { requestsOf } from "../openapi/requests.ts";
import { API_ROOT } from "../operation/address.ts";
import { compress, encodingFor } from "./encodings.ts";
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

/** Documents for several addresses and encodings; the names of the host are few, its ports the client's choice. */
const MAX_TEXTS = 16;

class DocumentTexts {
  readonly #texts = new Map<string, string | Uint8Array<ArrayBuffer>>();

  /** Answers with a document in an encoding that the client takes. */
  async answer(context: Context<RequestNotes>, name: string, make: () => object): Promise<Response> {
    const encoding = encodingFor(context.req.header("accept-encoding") ?? "");
    const key = `${encoding?.name} ${name}`;
    let text = this.#texts.get(key);
    if (text === undefined) {
      const plain = JSON.stringify(make());
      text = encoding === undefined ? plain : await compress(plain, encoding);
      const [oldest] = this.#texts.keys();
      if (this.#texts.size >= MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
      this.#texts.set(key, text);
    }
    context.header("Content-Type", "application/json");
    context.header("Vary", "Accept-Encoding");
    if (encoding !== undefined) context.header("Content-Encoding", encoding.name);
    return context.body(text);
  }
}

/**
 * The routes of the documentation.
 * @param makeDocument is called for the first reader: the document takes a tenth of a second, which a start can spare.
 */
export function docsRoutes(makeDocument: () => OpenApiDocument): Hono<RequestNotes> {
  const app = new Hono<RequestNotes>();
  let document: OpenApiDocument | undefined;
  const texts = new DocumentTexts();
  app.get("/openapi.json", async (context) => {
    context.set("route", "/openapi.json");
    // The address that the client used works for that client.
    const { origin } = urlOf(context.req.raw);
    const part = context.req.query("part") === "requests" ? "requests" : "all";
    document ??= makeDocument();
    const whole = document;
    const servers = [{ url: origin + API_ROOT }];
    return await texts.answer(context, `${part} ${origin}`, () =>
      part === "requests" ? requestsOf(whole) : { ...whole, servers },
    );
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
