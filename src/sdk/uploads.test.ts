// Uploads of sources against a server that reads them.
import { afterEach, expect, test } from "bun:test";
import { PilviClient } from "./index.ts";

const servers: { stop(force: boolean): Promise<void> }[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

test("an upload is a stream that is opened anew for another attempt, with the same Idempotency-Key", async () => {
  const seen: { search: string; type: string | null; key: string | null; text: string }[] = [];
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { headers } = request;
      seen.push({
        search: new URL(request.url).search,
        type: headers.get("Content-Type"),
        key: headers.get("Idempotency-Key"),
        text: await request.text(),
      });
      return seen.length === 1
        ? Response.json({ message: "Not ready." }, { status: 503 })
        : Response.json({ data: { id: "depl-1", type: "deployments" } }, { status: 201 });
    },
  });
  servers.push(server);
  const client = new PilviClient({ url: `http://127.0.0.1:${server.port}`, pause: async () => {} });
  let opened = 0;
  const { data } = await client.applications.environments("app-1").upload("env-1", {
    archive() {
      opened += 1;
      return new Blob(["the ", "archive"]).stream();
    },
    message: "Fix it",
    authorName: "Ada",
    idempotencyKey: "once",
  });
  const request = {
    search: "?message=Fix+it&author_name=Ada",
    type: "application/gzip",
    key: "once",
    text: "the archive",
  };
  expect(data.id).toBe("depl-1");
  expect({ seen, opened }).toEqual({ seen: [request, request], opened: 2 });
});
