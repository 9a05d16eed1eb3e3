// Tests of `pilvi usage` against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import type { UsageAmounts, UsageResource } from "../../sdk/index.ts";
import { closeServers, serveWith } from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";

afterEach(closeServers);

const NOTHING: UsageAmounts = {
  awake_ms: 0,
  uncertain_ms: 0,
  asleep_ms: 0,
  awake_mib_seconds: 0,
  saved_mib_seconds: 0,
  compute_unit_seconds: null,
  storage_byte_hours: 0,
  max_connections: 0,
  messages_received: null,
  messages_sent: null,
  is_complete: true,
};

const HOUR = 3_600;

function usage(name: string, changes: Partial<UsageResource["attributes"]>): UsageResource {
  const { id } = sampleCache(1);
  return {
    id,
    type: "usages",
    attributes: {
      kind: "caches",
      type: "platform_valkey",
      name,
      created_at: "2026-11-02T08:18:53.204112Z",
      deleted_at: null,
      memory_mib: 1_024,
      totals: NOTHING,
      days: [],
      ...changes,
    },
    relationships: { resource: { data: { type: "caches", id } } },
  };
}

function serveUsage(
  pages: UsageResource[][],
  total: Partial<UsageAmounts>,
  asked: URLSearchParams[],
): string {
  return serveWith((request) => {
    const { searchParams } = new URL(request.url);
    asked.push(searchParams);
    if (searchParams.get("format") === "csv") return new Response("day,name\r\n2026-11-01,sessions\r\n");
    const page = Number(searchParams.get("page"));
    return Response.json({
      data: pages[page - 1],
      links: {},
      meta: { last_page: pages.length, month: "2026-11", totals: { ...NOTHING, ...total }, days: [] },
    });
  });
}

test("usage shows a month that a person understands, in 80 columns", async () => {
  const asked: URLSearchParams[] = [];
  const orders = usage("orders-with-a-name-of-forty-characters-a", {
    kind: "databases",
    memory_mib: 2_048,
    deleted_at: "2026-11-05T00:00:00.000000Z",
    totals: {
      ...NOTHING,
      awake_ms: 10.5 * HOUR * 1_000,
      awake_mib_seconds: 10.5 * HOUR * 2_048,
      saved_mib_seconds: 31.5 * HOUR * 2_048,
      compute_unit_seconds: 5.25 * HOUR,
      storage_byte_hours: 4.5e9,
    },
  });
  const chat = usage("chat", {
    kind: "websockets",
    memory_mib: 0,
    totals: {
      ...NOTHING,
      awake_ms: 720 * HOUR * 1_000,
      max_connections: 42,
      messages_received: 7,
      messages_sent: 9,
    },
  });
  const total = {
    ...orders.attributes.totals,
    compute_unit_seconds: null,
    awake_ms: 730.5 * HOUR * 1_000,
    max_connections: 42,
    messages_received: 7,
    messages_sent: 9,
  };
  const io = fakeIo();
  await runCommand(io, serveUsage([[orders], [chat]], total, asked), "usage", "--month", "2026-11");
  expect(io.stdout).toBe(
    [
      "Usage of 2026-11, in UTC",
      "",
      "NAME                  KIND       AWAKE    SIZE    GB-HOURS  DISK GB-H  SAVED",
      "orders-with-a-nam… *  database   10.5 h   0.5 CU  21.00     4.50       75 %",
      "chat                  websocket  720.0 h  -       0.00      0.00       -",
      "All                              730.5 h          21.00     4.50       75 %",
      "",
      "NAME  KIND       CLIENTS AT MOST  MESSAGES RECEIVED  MESSAGES SENT",
      "chat  websocket  42               7                  9",
      "All                               7                  9",
      "",
      "Sleeping saved 63.00 GB-hours, 75 % of always being awake.",
      "A name with * belongs to a resource that is deleted.",
      "",
    ].join("\n"),
  );
  expect(Math.max(...io.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(asked.map(String)).toEqual(["month=2026-11&page=1", "month=2026-11&page=2"]);
});

test("usage --csv prints the table as it comes, with the filters", async () => {
  const asked: URLSearchParams[] = [];
  const io = fakeIo();
  const { id } = sampleCache(1);
  await runCommand(io, serveUsage([], {}, asked), "usage", "--csv", "--kind", "caches", "--resource", id);
  expect(io.stdout).toBe("day,name\n2026-11-01,sessions\n");
  expect(Object.fromEntries(asked[0] ?? [])).toEqual({
    "filter[resource]": id,
    "filter[kind]": "caches",
    format: "csv",
  });
});

test("usage says when nothing existed, and refuses what is no month", async () => {
  const io = fakeIo();
  await runCommand(io, serveUsage([[]], {}, []), "usage");
  expect(io.stdout).toBe("Nothing existed in 2026-11.\n");
  const failure: unknown = await runCommand(
    io,
    serveUsage([[]], {}, []),
    "usage",
    "--month",
    "2026-13",
  ).catch((error: unknown) => error);
  expect(`${String(failure)}${io.stderr}`).toMatch(/such as 2026-11/);
});
