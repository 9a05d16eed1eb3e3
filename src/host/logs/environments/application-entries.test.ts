// What the host makes of the output of applications, which customers choose.
import { expect, test } from "bun:test";
import { entriesOf } from "./application-entries.ts";

const read = (...texts: string[]) =>
  entriesOf(
    texts.map((text, index) => ({ text, end: index + 1 })),
    true,
  ).entries;

test("an exception has its name, its whole message and the place of its origin", () => {
  const long = "x".repeat(2_000);
  expect(read(`TypeError: ${long}`, "    at start (/app/server.js:3:9)", "done")).toMatchObject([
    { y: "exception", m: long, x: { class: "TypeError", file: "/app/server.js:3" }, o: 2 },
    { y: "application", m: "done", o: 3 },
  ]);
  expect(read("Traceback (most recent call last):", '  File "a.py", line 2', "ValueError: no")).toMatchObject(
    [{ y: "exception", m: "no", x: { class: "ValueError", file: "a.py:2" } }],
  );
});

test("lines that are made for it hold up no reading", () => {
  const slashes = `   at ${"/".repeat(60_000)}`;
  const errors = `${"Error".repeat(12_000)}.\u2028x`;
  const startedMs = performance.now();
  read("Error: a", ...Array.from({ length: 50 }, () => slashes));
  read(...Array.from({ length: 50 }, () => errors));
  read(JSON.stringify({ msg: "a", err: { stack: `Error\n${slashes}`, message: "b" } }));
  // Each of these lines took seconds by itself.
  expect(performance.now() - startedMs).toBeLessThan(20_000);
});

test("a level that is the name of a member of all objects is no level", () => {
  for (const level of ["constructor", "__proto__", "toString"])
    expect(read(JSON.stringify({ level, msg: "hello" }))).toMatchObject([{ l: "info", m: "hello" }]);
});

test("members that hold each other ten thousands of times are plain text, since nothing could write them", () => {
  const deep = `{"msg":"a","context":{"b":${"[".repeat(30_000)}${"]".repeat(30_000)}}}`;
  const [entry] = read(deep);
  expect(entry).toMatchObject({ y: "application", m: deep.slice(0, entry?.m.length) });
  expect(JSON.stringify(entry).length).toBeLessThan(deep.length);
  const usual = { msg: "a", context: { b: [{ c: [{ d: 1 }] }] } };
  expect(read(JSON.stringify(usual))).toMatchObject([{ m: "a", x: { context: usual.context } }]);
});

test.each([
  ["warning", "WARNING:root:low"],
  ["error", "ERROR:shop.orders:no stock"],
  ["info", "INFO:     Application startup complete."],
  ["error", "ERROR:    [Errno 98] address already in use"],
  ["warning", "[2026-11-27 18:12:42,123] WARNING in app: low"],
  ["error", "[2026-11-27 18:12:42,123] ERROR in app: Exception on / [GET]"],
  ["info", "[2026-11-27 18:12:42 +0000] [7] [INFO] Booting worker with pid: 8"],
  [
    "error",
    "[2026-11-27 18:12:42 +0000] [7] [ERROR] Worker (pid:8) was sent SIGKILL! Perhaps out of memory?",
  ],
  ["error", "[2026-11-27 18:12:42 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:8)"],
  ["debug", "[2026-11-27 18:12:42,123: DEBUG/MainProcess] beat"],
  ["warning", "2026-11-27 18:12:42,123 - shop.orders - WARNING - low"],
  ["error", "2026-11-27 18:12:42,123 ERROR shop: no stock"],
  ["info", "ERRORS are rare"],
  ["info", "2026-11-27 18:12:42 no ERROR: at all"],
])("a line of Python's logging has its level %s: %s", (level, line) => {
  expect(read(line)).toMatchObject([{ l: level, y: "application", m: line }]);
});

const SAID = "[2026-11-27 18:12:42] production.ERROR:";
const FAULT =
  '"exception":"[object] (App\\\\Exceptions\\\\NoBasket(code: 7): No basket at /app/app/Pay.php:45)';
const TRACE = ["[stacktrace]", "#0 /app/vendor/a.php(3): App\\\\Pay->pay()", "#1 {main}", '"} '];

test("an entry of the log of Laravel keeps its level, and an exception and its trace are one entry", () => {
  expect(
    read(
      '[2026-11-27 18:12:42] production.WARNING: low {"left":2} ',
      "[2026-11-27T18:12:42.123456+00:00] app.INFO: hello [] []",
      `${SAID} No basket {"userId":1,${FAULT}`,
      ...TRACE,
      "plain",
    ),
  ).toEqual([
    {
      l: "warning",
      y: "application",
      m: 'low {"left":2}',
      x: expect.objectContaining({ channel: "production" }),
      o: 1,
    },
    { l: "info", y: "application", m: "hello [] []", x: expect.objectContaining({ channel: "app" }), o: 2 },
    {
      l: "error",
      y: "exception",
      m: "No basket",
      x: {
        class: "App\\Exceptions\\NoBasket",
        code: 7,
        file: "/app/app/Pay.php:45",
        trace: ["#0 /app/vendor/a.php(3): App\\Pay->pay()", "#1 {main}"],
      },
      o: 7,
    },
    { t: null, l: "info", y: "application", m: "plain", o: 8 },
  ]);
});

test("a message of Laravel's may have several lines, and its end may come later or never", () => {
  const first = `${SAID} no relation "x"`;
  const lines = [first, "LINE 1: select", "  ^", `(SQL: select) {${FAULT}`, ...TRACE];
  expect(read(...lines)).toMatchObject([
    { y: "exception", m: 'no relation "x"\nLINE 1: select\n  ^\n(SQL: select)', o: 8 },
  ]);
  const early = lines.slice(0, 3).map((text, index) => ({ text, end: index + 1 }));
  expect(entriesOf(early, false)).toEqual({ entries: [], end: null });
  expect(read(first, "a", `${SAID} next  `)).toMatchObject([
    { l: "error", m: 'no relation "x"' },
    { l: "info", m: "a" },
    { l: "error", m: "next" },
  ]);
});

test("a line of JSON of Monolog's has its level and its time", () => {
  const line = { message: "slow", context: {}, level: 300, level_name: "WARNING", channel: "production" };
  const datetime = "2026-03-15T08:16:12.345678+00:00";
  expect(read(JSON.stringify({ ...line, datetime, extra: {} }))).toMatchObject([
    { t: Date.UTC(2026, 2, 15, 8, 16, 12, 345), l: "warning", m: "slow", x: { channel: "production" } },
  ]);
});
