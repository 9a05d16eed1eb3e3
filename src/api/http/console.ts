// Serves the web console: its files, and the same page for each of its addresses.
import { type Context, Hono, type Next } from "hono";
import { API_ROOT } from "../operation/address.ts";
import type { ConsoleFile, ConsoleFiles } from "./console-files.ts";
import type { RequestNotes } from "./execute.ts";
import { CONSOLE_POLICY } from "./security.ts";

/** Names of files carry a hash of their content. */
const FOREVER = "public, max-age=31536000, immutable";

/** Paths of programs, which are never pages. */
const NO_PAGES = /^\/(?:assets|docs|openapi\.json|healthz|readyz|metrics)(?:\/|$)/;

const waitingPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>Pilvi</title></head>
<body><h1>Pilvi</h1><p>The console is being built. This page opens it in a few seconds. If it does not, the output of
pilvi up says why.</p><p>The API is below <code>/api</code>, its <a href="/docs">documentation</a> is here already.</p></body>
</html>
`;

/** The routes of the console; a path that is not the console's goes on to the next route. */
export function consoleRoutes(files: ConsoleFiles): Hono<RequestNotes> {
  const app = new Hono<RequestNotes>();
  app.get("/assets/:name", async (context, next) => {
    context.set("route", "/assets");
    const file = await files.asset(context.req.param("name"), encodingsOf(context));
    return file === undefined ? await next() : answer(context, file, FOREVER);
  });
  app.get("*", async (context, next: Next) => {
    if (!isPage(context)) return await next();
    context.set("route", "/");
    const page = await files.page(encodingsOf(context));
    if (page !== undefined) return answer(context, page, "no-cache");
    context.header("Retry-After", "1");
    context.header("Content-Security-Policy", CONSOLE_POLICY);
    return context.html(waitingPage, 503);
  });
  return app;
}

/** Only browsers ask for pages, so that a mistyped address of the API is an error for programs. */
function isPage({ req }: Context): boolean {
  if (req.path === "/") return true;
  if (req.path === API_ROOT || req.path.startsWith(`${API_ROOT}/`) || NO_PAGES.test(req.path)) return false;
  return req.header("accept")?.includes("text/html") === true;
}

function encodingsOf({ req }: Context): string {
  return req.header("accept-encoding") ?? "";
}

function answer(context: Context, file: ConsoleFile, caching: string): Response {
  context.header("Content-Type", file.contentType);
  context.header("Cache-Control", caching);
  context.header("Vary", "Accept-Encoding");
  context.header("Content-Security-Policy", CONSOLE_POLICY);
  if (file.encoding !== undefined) context.header("Content-Encoding", file.encoding);
  return context.body(file.body);
}
