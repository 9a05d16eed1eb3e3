// The last lines of programs: without what only a terminal understands, and with the message before a trace.
import { expect, test } from "bun:test";
import { lastLines } from "./last-lines.ts";

test("the newest lines are given without colours, blank lines and what was written over", () => {
  const lines = [
    "first",
    "\u001b[31m✗\u001b[39m Build \u001b[1;38;5;9mfailed\u001b[0m ",
    "\u001b]0;vite\u0007 10 %\r 90 %\r100 %\r",
    "\u001b[2K\u001b[0m",
    "  indented",
  ];
  expect(lastLines(lines, 3)).toEqual(["✗ Build failed", "100 %", "  indented"]);
});

test("the message of an error that Node.js prints with its members stays", () => {
  const lines = [
    "error: function nosuch() does not exist",
    "    at Parser.parseErrorMessage (/app/node_modules/pg-protocol/dist/parser.js:285:98)",
    "    at Socket.<anonymous> (/app/node_modules/pg-protocol/dist/index.js:11:42) {",
    "  length: 201,",
    "  severity: 'ERROR',",
    "  hint: 'No function matches.',",
    "  routine: 'ParseFuncOrColumn'",
    "}",
    "",
    "Node.js v24.1.0",
  ];
  const end = [lines[0] ?? "", lines[1] ?? "", "Node.js v24.1.0"];
  expect(lastLines(lines, 10)).toEqual(end);
  expect(lastLines([...lastLines(lines.slice(0, 5), 10), ...lines.slice(5)], 10)).toEqual(end);
});

test("the causes of an error stay, and lines with indents that follow no trace", () => {
  const lines = [
    "Error: no connection",
    "    at start (/app/server.js:1:1) {",
    "  code: 'X',",
    "  [cause]: AggregateError: several",
    "      at connect (node:net:1:1) {",
    "    [errors]: [",
    "      Error: connect ECONNREFUSED ::1:5432",
    "          at again (node:net:2:2)",
    "    ]",
    "  }",
    "}",
    "services:",
    "  web: ok",
    "  worker: ok",
  ];
  expect(lastLines(lines, 20)).toEqual([0, 1, 3, 4, 6, 7, 11, 12, 13].map((line) => lines[line] ?? ""));
});

test("the message before a long trace stays, with its first frame", () => {
  const frames = Array.from({ length: 12 }, (_, line) => `\u001b[90m    at step (/app/build.js:${line}:1)`);
  const lines = ["error during build:", "Could not resolve ./x", ...frames, "", "Node.js v24.1.0"];
  const end = ["Could not resolve ./x", "    at step (/app/build.js:0:1)", "Node.js v24.1.0"];
  expect(lastLines(lines, 3)).toEqual(end);
  // The lines of a build come in parts.
  const first = lastLines(lines.slice(0, 6), 3);
  expect(lastLines([...first, ...lines.slice(6)], 3)).toEqual(end);
});
