// Tests of `pilvi events` against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import type { EventPage, EventResource } from "../../sdk/index.ts";
import { closeServers, serveWith } from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";

afterEach(closeServers);

function event(number: number, message = "The cache sessions is available."): EventResource {
  return {
    id: String(number),
    type: "events",
    attributes: {
      type: "available",
      occurred_at: `2026-03-15T08:18:${String(number).padStart(2, "0")}.204112Z`,
      message,
      resource_name: "sessions",
      details: {},
    },
    relationships: { resource: { data: { type: "caches", id: sampleCache(1).id } } },
    meta: { request_id: null },
  };
}

/** Serves events in pages of two, the newest first, and records the queries. */
function serveEvents(events: EventResource[], asked: URLSearchParams[] = []): string {
  return serveWith((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/api/caches") return Response.json({ data: [sampleCache(1)], links: {}, meta: {} });
    if (pathname === "/api/databases/clusters") return Response.json({ message: "no" }, { status: 403 });
    if (pathname === "/api/websocket-servers") return Response.json({ data: [], links: {}, meta: {} });
    asked.push(searchParams);
    const from = Number(searchParams.get("page[cursor]") ?? 0);
    const next = from + 2 < events.length ? String(from + 2) : null;
    const page: EventPage = {
      data: events.slice(from, from + 2),
      links: { first: "" },
      meta: { per_page: 2, next_cursor: next },
    };
    return Response.json(page);
  });
}

test("events shows the latest last, over all pages, within 80 columns", async () => {
  const long = "The cache sessions is not available. The engine ended unexpectedly and is being restarted.";
  const io = fakeIo();
  await runCommand(io, serveEvents([event(3), event(2, long), event(1)]), "events");
  expect(io.stdout).toBe(
    [
      "2026-03-15 08:18:01  The cache sessions is available.",
      "2026-03-15 08:18:02  The cache sessions is not available. The engine ended",
      "                     unexpectedly and is being restarted.",
      "2026-03-15 08:18:03  The cache sessions is available.\n",
    ].join("\n"),
  );
  expect(Math.max(...io.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("events --limit asks for no more pages than it shows", async () => {
  const asked: URLSearchParams[] = [];
  const io = fakeIo();
  const url = serveEvents([event(4), event(3), event(2), event(1)], asked);
  await runCommand(io, url, "events", "--limit", "2", "--json");
  const shown = io.stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as EventResource).id);
  expect(shown).toEqual(["3", "4"]);
  expect(asked.map(String)).toEqual(["per_page=2"]);
});

test("events finds a resource by its name, and passes the filters on", async () => {
  const asked: URLSearchParams[] = [];
  const io = fakeIo();
  const args = ["--resource", "sessions", "--type", "available,deleted", "--since", "2026-03-15T08:00:00Z"];
  await runCommand(io, serveEvents([], asked), "events", ...args);
  expect(Object.fromEntries(asked[0] ?? [])).toEqual({
    "filter[type]": "available,deleted",
    "filter[resource]": sampleCache(1).id,
    "filter[since]": "2026-03-15T08:00:00.000Z",
    per_page: "50",
  });
  expect(io).toMatchObject({ stdout: "", stderr: "Nothing like that has happened.\n" });
});

test.each([
  [["--resource", "nothing"], /Nothing is named nothing/],
  [["--since", "yesterday"], /such as 2h/],
  [["--limit", "0"], /1 or more/],
])("events refuses %p", async (args, message) => {
  const io = fakeIo();
  const failure: unknown = await runCommand(io, serveEvents([]), "events", ...args).catch(
    (error: unknown) => error,
  );
  expect(`${String(failure)}${io.stderr}`).toMatch(message);
});

test("events --follow shows each event once, over lost connections, until Ctrl-C", async () => {
  const asked: (string | null)[] = [];
  const streams = [
    ["event: bookmark\nid: 2\ndata: {}\n\n", messageText(2), ":\n\n", messageText(3).slice(0, 40)],
    [messageText(3), messageText(4), "hold"],
  ];
  const url = serveWith((request) => {
    const { searchParams } = new URL(request.url);
    if (!searchParams.has("follow")) {
      const page = {
        data: [event(2), event(1)],
        links: { first: "" },
        meta: { per_page: 2, next_cursor: null },
      };
      return Response.json(page);
    }
    asked.push(searchParams.get("after"));
    const chunks = streams.shift() ?? [];
    return new Response(streamOf(chunks), { headers: { "Content-Type": "text/event-stream" } });
  });
  const io = fakeIo({
    out: (text) => {
      io.stdout += text;
      if (io.stdout.includes(":04 ")) io.interrupt();
    },
  });
  await runCommand(io, url, "events", "--follow");
  const seconds = io.stdout
    .trim()
    .split("\n")
    .map((line) => line.slice(17, 19));
  expect(seconds).toEqual(["01", "02", "03", "04"]);
  expect(asked).toEqual([null, "2"]);
});

test("events --follow ends with a failure when the token is refused", async () => {
  const url = serveWith(() => Response.json({ message: "Unauthenticated." }, { status: 401 }));
  const io = fakeIo();
  const failure: unknown = await runCommand(io, url, "events", "--follow").catch((error: unknown) => error);
  expect(String(failure)).toContain("Unauthenticated.");
});

function messageText(number: number): string {
  return `id: ${number}\ndata: ${JSON.stringify(event(number))}\n\n`;
}

/** Ends after its chunks, unless the last one is `hold`. */
function streamOf(chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) if (chunk !== "hold") controller.enqueue(encoder.encode(chunk));
      if (chunks.at(-1) !== "hold") controller.close();
    },
  });
}
