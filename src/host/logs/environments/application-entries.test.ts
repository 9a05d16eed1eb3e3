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

const LOGGED = '[2026-11-27 18:12:42] production.ERROR: a {"exception":"[object] (A(code: 1): ';

test.each([
  ["slashes", 300, "Error: a", ...Array.from({ length: 199 }, () => `  at ${"/".repeat(490)}`)],
  ["ends of exceptions", 40_000, `${LOGGED} at /${':1)"}'.repeat(90)}\u2028}`],
  ["short members", 200, `{"msg":"a","b":[${"1,".repeat(30_000)}1]}`],
  [
    "places in a trace",
    100,
    JSON.stringify({ msg: "a", err: { stack: `\n ${"/".repeat(490)}`.repeat(120) } }),
  ],
])("the time that lines full of %s take grows with their length alone", (_, count, ...texts) => {
  const used = process.cpuUsage();
  read(...Array.from({ length: count }, () => texts).flat());
  // They took more than five seconds of a processor, and take less than one.
  expect(process.cpuUsage(used).user).toBeLessThan(3_000_000);
});

test("a place is a path at the start of a line, after a blank or after a parenthesis", () => {
  const fileOf = (line: string) => read("Error: a", line)[0]?.x?.["file"];
  expect(fileOf("    at /app/a.js:3:9")).toBe("/app/a.js:3");
  expect(fileOf("    at async file:///app/a.js:3:9")).toBe("file:///app/a.js:3");
  expect(fileOf("    at start (file:///app/a.js:3:9)")).toBe("file:///app/a.js:3");
  expect(fileOf("    at start (node:internal/modules/a:3:9)")).toBeNull();
  const err = { message: "b", stack: "Error\n/app/a.js:3\n" };
  expect(read(JSON.stringify({ msg: "a", err }))[0]?.x?.["file"]).toBe("/app/a.js:3");
});

test("a line of JSON with thousands of members is plain text", () => {
  const [usual = "", vast = ""] = [900, 6_000].map((length) =>
    JSON.stringify({ msg: "a", b: Array.from({ length }, () => 1) }),
  );
  expect(read(usual)).toMatchObject([{ m: "a" }]);
  expect(read(vast)).toMatchObject([{ m: vast.slice(0, 8_192) }]);
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
  expect(entriesOf(early, false)).toMatchObject({ entries: [], end: null });
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
