// The texts of entries in the log of the console.
import { expect, test } from "bun:test";
import { logText } from "./log-text.ts";

test("an exception has its class, its message and its trace as it was written", () => {
  const trace = ['  File "/app/app.py", line 3', "    ~~~^^^"];
  const exception = { type: "exception", message: "'REDIS_URL'", data: { class: "KeyError", trace } };
  expect(logText(exception)).toBe(`KeyError: 'REDIS_URL'\n${trace.join("\n")}`);
  const unsaid = { type: "exception", message: "KeyError", data: { class: "KeyError", trace: [] } };
  expect(logText(unsaid)).toBe("KeyError");
  const unnamed = { type: "exception", message: "Missing: no", data: { class: null, trace: [] } };
  expect(logText(unnamed)).toBe("Missing: no");
});

test("other entries have what their data adds", () => {
  expect(logText({ type: "engine", message: "ready" })).toBe("ready");
  expect(logText({ type: "access", message: "GET / 200", data: { duration_ms: 4 } })).toBe("GET / 200 4 ms");
  const context = { left: 2 };
  expect(logText({ type: "application", message: "low", data: { context } })).toBe('low {"left":2}');
});

test("colours are left out", () => {
  expect(logText({ type: "application", message: "\u001b[1;31mno\u001b[0m stock" })).toBe("no stock");
});
