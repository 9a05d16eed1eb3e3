// Commands as they arrive: in pieces, in both forms, and broken.
import { describe, expect, test } from "bun:test";
import { splitInline } from "./inline.ts";
import { commandBytes } from "./replies.ts";
import { parseCommand, strictInteger } from "./resp.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const parse = (text: string, isTrusted = false) => parseCommand(bytes(text), isTrusted);

describe("a command", () => {
  test("is read whole, whichever bytes it has", () => {
    const text = commandBytes("AUTH", "us\r\ner", "\u00ff\u0000$5");
    expect(parse(`${text}PING`)).toEqual({
      kind: "command",
      args: ["AUTH", "us\r\ner", "\u00ff\u0000$5"],
      end: text.length,
    });
  });

  test("waits for its end wherever it is cut, and tells its name early", () => {
    const text = commandBytes("SET", "key", "value");
    for (let end = 0; end < text.length; end++) {
      const name = end >= "*3\r\n$3\r\nSET\r\n".length ? "SET" : null;
      expect(parse(text.slice(0, end), true)).toEqual({ kind: "partial", name });
    }
  });

  test("of no elements gets no answer", () => {
    for (const text of ["*0\r\n", "*-1\r\n", "\r\n", "\n", " \r\n"]) {
      expect(parse(text)).toEqual({ kind: "command", args: [], end: text.length });
    }
  });

  test("may be larger only after a login", () => {
    for (const text of ["*11\r\n", "*1\r\n$16385\r\n"]) {
      expect(parse(text).kind).toBe("fault");
      expect(parse(text, true)).toEqual({ kind: "large" });
    }
  });

  test("may be a line with quotes", () => {
    expect(splitInline(`  set "a\\x41\\n\\"b" 'it\\'s' plain"quoted" `)).toEqual([
      "set",
      'aA\n"b',
      "it's",
      "plainquoted",
    ]);
    expect(splitInline('""')).toEqual([""]);
    for (const line of ['"open', "'open", '"a"b', "'a'b"]) expect(splitInline(line)).toBeNull();
  });
});

test("integers are those that the engine takes for such", () => {
  expect(["0", "7", "-7", "9223372036854775807"].map(strictInteger)).toEqual([0, 7, -7, 2 ** 63]);
  for (const text of ["", "-", "-0", "01", "+1", " 1", "1 ", "1.0", "1e3", "9223372036854775808"]) {
    expect(strictInteger(text)).toBeNull();
  }
});

test("what arrives of a command is kept up to a length, however many its elements are", () => {
  const begun = Buffer.from(`*10\r\n$4\r\nECHO\r\n${`$9000\r\n${"a".repeat(9_000)}\r\n`.repeat(2)}`);
  expect(parseCommand(begun, true)).toEqual({ kind: "large" });
  expect(parseCommand(begun, false)).toEqual({ kind: "fault", message: "unauthenticated bulk length" });
});
