// How events look, and that events cannot write anything else to the terminal.
import { expect, test } from "bun:test";
import { readFrame, type Frame } from "./frames.ts";
import { jsonLineOf, lineOf } from "./lines.ts";
import { originFor } from "./origin.ts";

const noon = new Date(2026, 2, 15, 12, 0, 0, 7);

function frame(event: string, data: unknown, more = {}): Frame {
  const read = readFrame(JSON.stringify({ event, channel: "news", data, ...more }));
  if (read === undefined) throw new Error("no frame");
  return read;
}

test("a line has the time, the event and its data as it was published", () => {
  expect(lineOf(frame("hello", '{"text": "moi"}'), noon)).toBe('12:00:00.007  hello  {"text": "moi"}\n');
  expect(lineOf(frame("client-typing", { at: 3 }, { user_id: "42" }), noon)).toBe(
    '12:00:00.007  client-typing  {"at":3}  (from 42)\n',
  );
  expect(lineOf(frame("pusher_internal:member_added", '{"user_id":"1"}'), noon)).toContain(
    "  pusher:member_added  ",
  );
});

test("control characters neither break the line nor reach the terminal", () => {
  expect(lineOf(frame("\u009b2J", "a\nb\u001b[31m\tc\r"), noon)).toBe(
    String.raw`12:00:00.007  \u009b2J  a\nb\u001b[31m\u0009c\u000d` + "\n",
  );
});

test("a line for programs has the data parsed, or as text where it is not JSON", () => {
  const read = (data: string) => JSON.parse(jsonLineOf(frame("hello", data), noon)) as { data: unknown };
  expect(read('{"text":"moi"}')).toEqual({
    time: noon.toISOString(),
    channel: "news",
    event: "hello",
    data: { text: "moi" },
  } as ReturnType<typeof read>);
  expect(read("not json").data).toBe("not json");
  expect(read("null").data).toBeNull();
});

test("a line that is not a JSON message is ignored", () => {
  for (const text of ["", "moi", "null", "[]", "{}", '{"event":1}']) expect(readFrame(text)).toBeUndefined();
});

test.each([
  [[], undefined],
  [["*", "https://example.com"], undefined],
  [["https://example.com"], "https://example.com"],
  [["example.com:8443"], "https://example.com:8443"],
  [["*.example.com"], "https://pilvi.example.com"],
  [["http://*.example.com:*", "example.org"], "http://pilvi.example.com"],
  [["https://[::1]:8080/"], "https://[::1]:8080"],
])("of the allowed origins %p the client names %p", (allowed, origin) => {
  expect(originFor(allowed)).toBe(origin as string);
});
