// `pilvi databases query` against a server that speaks the documented shapes.
import { afterEach, describe, expect, test } from "bun:test";
import type { QueryDocument } from "../../sdk/index.ts";
import { bodies, closeServers, failureOf, requests, serve, type Answer } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

afterEach(closeServers);

const id = "db-0199f0a2-6c3e-7d5b-9a41-000000000001";
const QUERY = `POST /databases/clusters/${id}/databases/schema-2/query`;

function result(data: Partial<QueryDocument["data"]> = {}): Answer {
  const empty = { columns: [], rows: [], row_count: 0, command: "SELECT", duration_ms: 1.5 };
  return () => Response.json({ data: { ...empty, truncated: false, cut_cells: [], notices: [], ...data } });
}

function serveQuery(answer: Answer): string {
  const databases = ["main", "reports"].map((name, index) => ({
    id: `schema-${index + 1}`,
    type: "databaseSchemas",
    attributes: { name },
  }));
  const cluster = { data: { id, attributes: { name: "orders" } }, included: databases };
  return serve({ [`GET /databases/clusters/${id}`]: () => Response.json(cluster), [QUERY]: answer });
}

const TWO = {
  columns: [
    { name: "id", type: "int" },
    { name: "text", type: "text" },
  ],
  rows: [
    ["1", null],
    ["2", "a\nb"],
  ],
};

const fault: Answer = () =>
  Response.json(
    {
      message: 'column "missing" does not exist',
      errors: { statement: ['column "missing" does not exist'] },
      engine: { code: "42703", position: 10, detail: null, hint: "Look again." },
    },
    { status: 422 },
  );

describe("pilvi databases query", () => {
  const query = ["databases", "query", id, "--database", "reports"];

  test("sends the statement read-only, and prints a table", async () => {
    const io = fakeIo();
    const url = serveQuery(result({ ...TWO, row_count: 2 }));
    await runCommand(io, url, ...query, "select 1");
    expect(requests.at(-1)).toBe(QUERY);
    expect(bodies).toEqual([{ statement: "select 1", read_only: true }]);
    expect(io.stdout).toBe("id  text\n1   NULL\n2   a\\nb\n");
    expect(io.stderr).toBe("SELECT, 2 rows, 1.5 ms\n");
  });

  test("reads the statement from stdin, and sends its bounds", async () => {
    const io = fakeIo({ readInput: async () => "delete from jobs" });
    const url = serveQuery(result({ command: "DELETE", row_count: 1 }));
    await runCommand(io, url, ...query, "--write", "--max-rows", "5", "--timeout", "9");
    expect(bodies).toEqual([
      { statement: "delete from jobs", read_only: false, max_rows: 5, timeout_seconds: 9 },
    ]);
    expect([io.stdout, io.stderr]).toEqual(["", "DELETE, 1 row, 1.5 ms\n"]);
  });

  test("prints a wide table row by row, in no more columns than the terminal has", async () => {
    const io = fakeIo({ outColumns: 80 });
    const rows = [["1", "x".repeat(200)]];
    const url = serveQuery(
      result({
        columns: TWO.columns,
        rows,
        row_count: null,
        truncated: true,
        cut_cells: [{ row: 0, column: 1, bytes: 70_000 }],
        notices: [{ severity: "WARNING", code: "01000", message: "careful" }],
      }),
    );
    await runCommand(io, url, ...query, "select 1");
    expect(io.stdout).toStartWith("Row 1\nid    1\ntext  xxx");
    expect(Math.max(...io.stdout.split("\n").map((line) => line.length))).toBe(80);
    expect(io.stderr).toBe("WARNING: careful\nOne long value is cut.\nSELECT, the first 1 row, 1.5 ms\n");
  });

  test("prints a wide table whole into a pipe, whatever the terminal of the progress has", async () => {
    const io = fakeIo({ errColumns: 80 });
    const long = "x".repeat(200);
    const url = serveQuery(result({ columns: TWO.columns, rows: [["1", long]] }));
    await runCommand(io, url, ...query, "select 1");
    expect(io.stdout).toBe(`id  text\n1   ${long}\n`);
  });

  test("prints CSV in which NULL and an empty text differ", async () => {
    const io = fakeIo();
    const rows = [
      ["1", null],
      ["2", ""],
      ["3", 'a "b", c\nd'],
    ];
    await runCommand(io, serveQuery(result({ ...TWO, rows })), ...query, "--csv", "select 1");
    expect(io.stdout).toBe('id,text\r\n1,\r\n2,""\r\n3,"a ""b"", c\nd"\r\n');
  });

  test("shows where the engine found a fault", async () => {
    const failure = await failureOf(runCommand(fakeIo(), serveQuery(fault), ...query, "select\n  missing"));
    expect(failure).toEqual({
      text: 'column "missing" does not exist (42703)\n    missing\n    ^\nHint: Look again.',
      exitCode: 1,
    });
  });

  test("names a database that is not there", async () => {
    const run = runCommand(
      fakeIo(),
      serveQuery(result()),
      "databases",
      "query",
      id,
      "--database",
      "x",
      "select 1",
    );
    expect(await failureOf(run)).toEqual({ text: "orders has no database named x.", exitCode: 1 });
  });
});
