// Answers of a cache, however their bytes are cut, and beyond the bounds.
import { expect, test } from "bun:test";
import { encodeCommand, ReplyError, ReplyReader, TooLarge } from "./resp.ts";

const MOST = 1024 ** 2;

test("answers are read however their bytes are cut", async () => {
  const bytes = Buffer.from(
    "+OK\r\n:-5\r\n$-1\r\n$4\r\na\r\nb\r\n*2\r\n$0\r\n\r\n*1\r\n:1\r\n-ERR no\r\n*-1\r\n",
  );
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new ReplyReader(MOST);
    const replies = (async () => {
      const all = [];
      for (let count = 0; count < 7; count++) all.push(await reader.reply());
      return all;
    })();
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(bytes.subarray(at, at + size));
      await Promise.resolve();
    }
    expect(await replies).toEqual([
      Buffer.from("OK"),
      -5,
      null,
      Buffer.from("a\r\nb"),
      [Buffer.alloc(0), [1]],
      new ReplyError("ERR no"),
      null,
    ]);
  }
});

test.each([
  ["a text", `$${MOST + 1}\r\n`],
  ["an endless line", `+${"x".repeat(MOST + 1)}`],
  ["too many elements", "*1000000\r\n"],
])("%s beyond the bound is refused before it is read", async (_, text) => {
  const reader = new ReplyReader(MOST);
  reader.push(Buffer.from(text));
  await expect(reader.reply()).rejects.toThrow(TooLarge);
});

test.each(["?\r\n", "$x\r\n", "*-2\r\n", "*1\r\n".repeat(9)])("%p is no answer", async (text) => {
  const reader = new ReplyReader(MOST);
  reader.push(Buffer.from(text));
  await expect(reader.reply()).rejects.toThrow("the answer");
});

test("the end of a connection ends the present read and every later one", async () => {
  const reader = new ReplyReader(MOST);
  const first = reader.reply();
  reader.fail(new Error("gone"));
  await expect(first).rejects.toThrow("gone");
  await expect(reader.reply()).rejects.toThrow("gone");
});

test("a command keeps bytes that are no text", () => {
  expect(encodeCommand(["GET", Buffer.from([255, 13, 10])])).toEqual(
    Buffer.concat([
      Buffer.from("*2\r\n$3\r\nGET\r\n$3\r\n"),
      Buffer.from([255, 13, 10]),
      Buffer.from("\r\n"),
    ]),
  );
});
