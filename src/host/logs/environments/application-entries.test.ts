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
  expect(performance.now() - startedMs).toBeLessThan(2_000);
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
