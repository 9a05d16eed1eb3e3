// Snippets as readers get them: copied from the page of the console, and run in pages of their own.
import type { TestBrowser } from "../clients/chromium.ts";
import type { ConsolePage } from "./console-page.ts";

/** The texts that the buttons of a page copy, by the names of the snippets. */
export async function copiedFrom(window: ConsolePage, path: string): Promise<Map<string, string>> {
  const { page } = window;
  await window.goto(path);
  const group = page.getByRole("group", { name: "Client" });
  await group.waitFor();
  const texts = new Map<string, string>();
  for (const label of await group.getByRole("button").allTextContents()) {
    await group.getByRole("button", { name: label, exact: true }).click();
    await page.getByRole("button", { name: `Copy ${label} snippet`, exact: true }).click();
    texts.set(label, String(await page.evaluate("navigator.clipboard.readText()")));
  }
  return texts;
}

/** A page of a customer's own, whose script writes events into the browser's console. */
export interface CustomerPage {
  /** How many events were written. */
  received(): number;
  /** The addresses of the page's WebSockets. */
  sockets: string[];
  close(): Promise<void>;
}

export async function openCustomerPage({ browser }: TestBrowser, script: string): Promise<CustomerPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === "/script.js"
        ? new Response(script, { headers: { "content-type": "text/javascript" } })
        : new Response("<!doctype html><script type=module src=/script.js></script>", {
            headers: { "content-type": "text/html" },
          }),
  });
  const page = await context.newPage();
  let events = 0;
  const sockets: string[] = [];
  page.on("console", (message) => void (events += message.type() === "log" ? 1 : 0));
  page.on("websocket", (socket) => void sockets.push(socket.url()));
  await page.goto(server.url.href);
  return {
    received: () => events,
    sockets,
    close: async () => {
      await context.close();
      await server.stop(true);
    },
  };
}
