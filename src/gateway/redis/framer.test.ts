// The framer on commands that arrive cut anywhere.
import { describe, expect, spyOn, test } from "bun:test";
import { commandBytes } from "./replies.ts";
import { CommandFramer } from "./framer.ts";
import type { Login } from "./session.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

function walked(...texts: string[]): { isUse: boolean; isBetween: boolean } {
  const framer = new CommandFramer();
  const uses = texts.map((text) => framer.walk(bytes(text), text.length));
  return { isUse: uses.includes(true), isBetween: framer.isBetweenMessages };
}

/** Commands, whether they are use, and whether the engine may be stopped after them. */
const CASES: [string, boolean, boolean][] = [
  [commandBytes("PING"), false, true],
  [commandBytes("ping") + commandBytes("PiNg", "message"), false, true],
  ["PING\r\nping\n\r\n*0\r\n*-1\r\n", false, true],
  [commandBytes("CLIENT", "SETNAME", "x") + commandBytes("SELECT", "1"), false, true],
  [commandBytes("HELLO", "3", "AUTH", "default", "\r\n*1\r\n$3\r\nGET"), false, true],
  [commandBytes("GET", "PING"), true, true],
  [commandBytes("PINGS"), true, true],
  [commandBytes(""), true, true],
  [commandBytes("SET", "key", "x".repeat(300)) + commandBytes("PING"), true, true],
  ["get x\r\n", true, true],
  [commandBytes("WATCH", "k"), true, false],
  [commandBytes("WATCH", "k") + commandBytes("UNWATCH"), true, true],
  [commandBytes("WATCH", "k") + commandBytes("EXEC"), true, false],
  [commandBytes("MULTI") + commandBytes("GET", "k"), true, false],
  [commandBytes("MULTI", "1"), true, true],
  [commandBytes("watch", "k") + commandBytes("multi") + commandBytes("exec"), true, true],
  [commandBytes("WATCH", "k") + commandBytes("MULTI") + commandBytes("UNWATCH"), true, false],
  [`MULTI\r\n${commandBytes("DISCARD")}`, true, true],
  [`"watch" k\r\n${commandBytes("RESET")}`, true, true],
  [`"wat\\x63h" k\r\n`, true, false],
  [` \t\r\n  watch\t k  \r\n \r\n\n`, true, false],
  ["watch k\r\n  unwatch \r\n", true, true],
  [`watch k\r\nun"watch"\r\n`, true, true],
  ["watch k\nunwatch 1\n", true, false],
  ["watch 'k 1'\n", true, false],
  ["multi\nping\r\nget  k\n", true, false],
  [" ping  \n\n\tclient  setname x\n", false, true],
  [`ping "a b"\n'ping'\n`, false, true],
  [`get "a\\"b" 'it\\'s'\n`, true, true],
  [`""\n`, true, true],
  ["watch\u00a0k\n", true, true],
];

/** Commands, and the login that the client has tried last. */
const LOGINS: [string, Login | null][] = [
  [commandBytes("AUTH", "secret"), { user: "default", password: "secret" }],
  [commandBytes("auth", "app", "\r\n*1\r\n"), { user: "app", password: "\r\n*1\r\n" }],
  [`AUTH app "a b"\r\n`, { user: "app", password: "a b" }],
  ["\n auth \t secret  \r\nauth\n", { user: "default", password: "secret" }],
  [`"auth" 'app' secret\nget auth\n`, { user: "app", password: "secret" }],
  ["hello 3  AUTH app a\u00a0b\n", { user: "app", password: "a\u00a0b" }],
  [`hello 3 ${"setname x ".repeat(5)}auth 1 2\n`, null],
  [commandBytes("HELLO", "3", "SETNAME", "x", "AUTH", "app", "\u00ff"), { user: "app", password: "\u00ff" }],
  [
    commandBytes("AUTH", "1") + commandBytes("AUTH", "2") + commandBytes("GET", "AUTH"),
    { user: "default", password: "2" },
  ],
  [commandBytes("AUTH", "1") + commandBytes("HELLO", "3"), { user: "default", password: "1" }],
  [commandBytes("AUTH") + commandBytes("SET", "AUTH", "1") + commandBytes("HELLO", "2"), null],
  [commandBytes("AUTH", "1", "2", "3") + commandBytes("HELLO", "3", "AUTH", "app"), null],
  [
    commandBytes("HELLO", "3", ...Array.from({ length: 5 }, () => ["SETNAME", "x"]).flat(), "AUTH", "1", "2"),
    null,
  ],
];

describe("the framer of a cache", () => {
  test.each(LOGINS)("knows the login that was tried last in %p wherever it is cut", (text, login) => {
    for (let at = 0; at < text.length; at++) {
      const framer = new CommandFramer();
      for (const part of [text.slice(0, at), text.slice(at)]) framer.walk(bytes(part), part.length);
      expect(framer.login).toEqual(login);
    }
    const framer = new CommandFramer();
    for (const byte of text) framer.walk(bytes(byte), 1);
    expect(framer.login).toEqual(login);
  });

  test("keeps no password that is longer than the engine takes before a login", () => {
    for (const length of [16 * 1024, 16 * 1024 + 2_000, 100_000]) {
      const framer = new CommandFramer();
      const text = commandBytes("AUTH", "x".repeat(length)) + commandBytes("PING");
      framer.walk(bytes(text), text.length);
      expect(framer.login?.password.length ?? null).toBe(length <= 16 * 1024 ? length : null);
      expect(framer.isBetweenMessages).toBeTrue();
    }
  });

  test.each(CASES)("reads %p the same wherever it is cut", (text, isUse, isBetween) => {
    expect(walked(text)).toEqual({ isUse, isBetween });
    for (let at = 1; at < text.length; at++) {
      expect(walked(text.slice(0, at), text.slice(at))).toEqual({ isUse, isBetween });
    }
    expect(walked(...text)).toEqual({ isUse, isBetween });
  });

  test("knows that a command has been sent in part", () => {
    const text = commandBytes("SET", "key", "value");
    for (let end = 1; end < text.length; end++) expect(walked(text.slice(0, end)).isBetween).toBeFalse();
    const line = "GET key\r";
    for (let end = 1; end <= line.length; end++) expect(walked(line.slice(0, end)).isBetween).toBeFalse();
  });

  test("ignores the bytes of the chunk after the given length", () => {
    const framer = new CommandFramer();
    const chunk = bytes(commandBytes("PING") + commandBytes("GET", "k"));
    expect(framer.walk(chunk, commandBytes("PING").length)).toBeFalse();
    expect(framer.isBetweenMessages).toBeTrue();
  });

  test("reads a part of a larger buffer at its own offset", () => {
    const text = commandBytes("PING");
    const memory = bytes(`${commandBytes("GET", "k")}${text}`);
    const part = memory.subarray(memory.length - text.length);
    expect(new CommandFramer().walk(part, part.length)).toBeFalse();
  });

  test("stops reading at bytes that are no command, since the engine closes the connection", () => {
    for (const text of [
      "*x\r\n",
      "*1\r\n:4\r\n",
      "*1\r\n$-1\r\n",
      '"open\r\n',
      "*1".padEnd(40, "1"),
      "x".repeat(70_000),
    ]) {
      expect(walked(text, "WATCH k\r\n")).toEqual({ isUse: true, isBetween: true });
    }
  });
});

test("the framer reads no text of lines that do not matter", () => {
  const framer = new CommandFramer();
  const chunk = bytes(`${"\n\r\n".repeat(100)}${"a\nget  key\r\nset key value\n".repeat(100)}`);
  const texts = spyOn(Buffer.prototype, "toString");
  const isUse = framer.walk(chunk, chunk.length);
  const count = texts.mock.calls.length;
  texts.mockRestore();
  expect({ isUse, isBetween: framer.isBetweenMessages, count }).toEqual({
    isUse: true,
    isBetween: true,
    count: 0,
  });
});

test("the framer finds the end of a long line after any number of pieces", () => {
  for (const length of [62, 63, 64, 65, 66, 1_000, 60_000]) {
    const text = `get ${"k".repeat(length)}\nwatch k\n`;
    for (const cut of [1, 63, 64, 65, length, length + 4, length + 5]) {
      expect(walked(text.slice(0, cut), text.slice(cut))).toEqual({ isUse: true, isBetween: false });
    }
  }
});

test("random bytes never make the framer throw", () => {
  const alphabet = ["*", "$", "1", "2", "4", "\r\n", "\r", "\n", "PING", "WATCH", "-", "x", '"', "\u00ff"];
  for (let round = 0; round < 20_000; round++) {
    const framer = new CommandFramer();
    for (let count = 0; count < 12; count++) {
      const text = pick(alphabet);
      framer.walk(bytes(text), text.length);
    }
    expect(typeof framer.isBetweenMessages).toBe("boolean");
  }
});

test("the framer reads random commands the same whole and byte by byte", () => {
  const inline = [
    "\n",
    " \r\n",
    "get  k\n",
    `get "a b" 'c'\r\n`,
    "PING\n",
    ' watch "k" \n',
    "multi\r\n",
    '"exec"\n',
    "reset\n",
  ];
  const names = [
    "GET",
    "set",
    "PING",
    "WATCH",
    "unwatch",
    "MULTI",
    "EXEC",
    "DISCARD",
    "HGETALL",
    "RESET",
    "X",
    "CLIENT",
  ];
  for (let round = 0; round < 2_000; round++) {
    const commands = Array.from({ length: 1 + Math.floor(Math.random() * 6) }, () => {
      const args = Array.from({ length: Math.floor(Math.random() * 3) }, () =>
        "*1\r\n".repeat(pick([0, 1, 9])),
      );
      return pick([commandBytes(pick(names), ...args), pick(inline)]);
    });
    const text = commands.join("");
    expect({ text, ...walked(...text) }).toEqual({ text, ...walked(text) });
  }
});
