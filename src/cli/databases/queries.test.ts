// The commands about queries and statements against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import { closeServers, serveWith } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

const id = "db-0199f0a2-6c3e-7d5b-9a41-000000000001";
const query = "4711-hgk2j4x9s0-2n9c";

/** Requests about queries and statements, such as `GET /queries?idle=true`. */
let asked: string[] = [];

afterEach(async () => {
  asked = [];
  await closeServers();
});

/** A server with one cluster, and one answer to all reads of its queries or statements. */
function serve(isAsleep: boolean, ...attributes: object[]): string {
  return serveWith(({ method, url }) => {
    const { pathname, search } = new URL(url);
    const path = pathname.replace(`/api/databases/clusters/${id}`, "");
    if (path === "")
      return Response.json({ data: { id, type: "databases", attributes: { name: "orders" } } });
    asked.push(`${method} ${path}${search}`);
    if (method === "DELETE") return new Response(null, { status: 204 });
    const data = attributes.map((each) => ({ id: query, type: "any", attributes: each }));
    return Response.json({ data, meta: { is_asleep: isAsleep, total: data.length && data.length + 3 } });
  });
}

test("queries fit into 80 columns, each on one line", async () => {
  const busy = {
    user: "app",
    state: "active",
    duration_ms: 5_204.5,
    text: `select\n  * from orders ${"x".repeat(200)}`,
  };
  const open = { user: "app", state: "idle_in_transaction", duration_ms: 2, text: null };
  const io = fakeIo();
  await runCommand(io, serve(false, busy, open), "databases", "queries", id, "--idle");
  expect(asked).toEqual(["GET /queries?idle=true"]);
  const lines = io.stdout.split("\n");
  expect(lines[1]).toMatch(/^4711-hgk2j4x9s0-2n9c {2}app {3}active {2}5\.2 s {3}select \* from orders x+…$/);
  expect(lines[2]).toMatch(/^4711-hgk2j4x9s0-2n9c {2}app {3}open {4}2\.0 ms$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBe(80);
  expect(io.stdout).toEndWith("And 3 more.\n");
});

test.each([
  [true, "The cluster sleeps, so nothing runs in it.\n"],
  [false, "Nothing runs at the moment.\n"],
])("queries of a cluster in which nothing runs, asleep: %p", async (isAsleep, text) => {
  const io = fakeIo();
  await runCommand(io, serve(isAsleep), "databases", "queries", id);
  expect(io.stdout).toBe(text);
});

test("a query is cancelled by its id, alone or with its session", async () => {
  const io = fakeIo();
  const url = serve(false);
  await runCommand(io, url, "databases", "cancel", id, query);
  await runCommand(io, url, "databases", "cancel", id, query, "--session");
  expect(asked).toEqual([
    `DELETE /queries/${query}?scope=statement`,
    `DELETE /queries/${query}?scope=session`,
  ]);
  expect(io.stdout).toBe("The statement is cancelled.\nThe session ends.\n");
});

test("statements show calls and times, in the order that was asked for, and begin anew", async () => {
  const times = { total_time_ms: 90_334, mean_time_ms: 75.03, max_time_ms: 1_204 };
  const url = serve(false, { calls: 1_204, ...times, rows: 7, text: "select 1" });
  const io = fakeIo();
  await runCommand(io, url, "databases", "statements", id, "--sort", "mean_time", "--limit", "5");
  expect(io.stdout.split("\n")[1]).toBe("1204   1.5 min  75.0 ms  1.2 s  7     select 1");
  await runCommand(io, url, "databases", "statements", id, "--reset");
  expect(asked).toEqual(["GET /statements?sort=mean_time&limit=5", "DELETE /statements"]);
});
