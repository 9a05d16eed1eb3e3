// The parser of commands: in pieces, in both forms, and malformed.
import { describe, expect, test } from "bun:test";
import { splitInline } from "./inline.ts";
import { commandBytes } from "./replies.ts";
import { MAX_PARSED_BYTES, parseCommand, strictInteger } from "./resp.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const parse = (text: string, isTrusted = false) => parseCommand(bytes(text), isTrusted);

describe("a command", () => {
  test("is read with arguments of any bytes", () => {
    const text = commandBytes("AUTH", "us\r\ner", "\u00ff\u0000$5");
    expect(parse(`${text}PING`)).toEqual({
      kind: "command",
      args: ["AUTH", "us\r\ner", "\u00ff\u0000$5"],
      end: text.length,
    });
  });

  test("is partial wherever it is cut, and has a name as soon as the name is whole", () => {
    const text = commandBytes("SET", "key", "value");
    for (let end = 0; end < text.length; end++) {
      const name = end >= "*3\r\n$3\r\nSET\r\n".length ? "SET" : null;
      expect(parse(text.slice(0, end), true)).toEqual({ kind: "partial", name });
    }
  });

  test("without elements has no arguments", () => {
    for (const text of ["*0\r\n", "*-1\r\n", "\r\n", "\n", " \r\n"]) {
      expect(parse(text)).toEqual({ kind: "command", args: [], end: text.length });
    }
  });

  test("that is blank ends where the next line that is not blank begins", () => {
    const text = "\r\n\n \t\r\n";
    expect(parse(`${text} PING\r\n`)).toEqual({ kind: "command", args: [], end: text.length });
    expect(parse(`${text}  `)).toEqual({ kind: "command", args: [], end: text.length });
    expect(parse("  ")).toEqual({ kind: "partial", name: null });
  });

  test("that is large is a fault before a login", () => {
    for (const text of ["*11\r\n", "*1\r\n$16385\r\n"]) {
      expect(parse(text).kind).toBe("fault");
      expect(parse(text, true)).toEqual({ kind: "large" });
    }
  });

  test.each([
    ["", "too big inline request"],
    ["*", "too big mbulk count string"],
    ["*1\r\n$", "too big bulk count string"],
    ["*2\r\n$4\r\nAUTH\r\n$", "too big bulk count string"],
  ])("whose line %j goes on too long is a fault, earlier before a login", (begun, message) => {
    const untrusted = begun.padEnd(MAX_PARSED_BYTES, "1");
    expect(parse(untrusted).kind).toBe("partial");
    expect(parse(`${untrusted}1`)).toEqual({ kind: "fault", message });
    const trusted = begun + "1".repeat(64 * 1024 - 1);
    expect(parse(trusted, true)).toMatchObject({ kind: "partial" });
    expect(parse(`${trusted}11`, true)).toEqual({ kind: "fault", message });
  });

  test("in inline form may not be longer when its end has arrived", () => {
    expect(parse(`${"x".repeat(MAX_PARSED_BYTES)}\n`).kind).toBe("command");
    expect(parse(`${"x".repeat(MAX_PARSED_BYTES + 1)}\n`).kind).toBe("fault");
    expect(parse(`${"x".repeat(MAX_PARSED_BYTES + 1)}\n`, true).kind).toBe("command");
  });

  test("in inline form is split at white space outside quotes", () => {
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

test("an integer is accepted only in the engine's strict form", () => {
  expect(["0", "7", "-7", "9223372036854775807"].map(strictInteger)).toEqual([0, 7, -7, 2 ** 63]);
  for (const text of ["", "-", "-0", "01", "+1", " 1", "1 ", "1.0", "1e3", "9223372036854775808"]) {
    expect(strictInteger(text)).toBeNull();
  }
});

test("the elements of a partial command are bounded in their total length", () => {
  const begun = Buffer.from(`*10\r\n$4\r\nECHO\r\n${`$9000\r\n${"a".repeat(9_000)}\r\n`.repeat(2)}`);
  expect(parseCommand(begun, true)).toEqual({ kind: "large" });
  expect(parseCommand(begun, false)).toEqual({ kind: "fault", message: "unauthenticated bulk length" });
});
