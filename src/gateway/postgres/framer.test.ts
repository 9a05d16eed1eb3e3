// The framer on a client's messages: their ends, wherever they are cut, and use of the instance.
import { describe, expect, test } from "bun:test";
import { message } from "./messages.ts";
import { FrontendFramer } from "./framer.ts";

const query = message("Q", Buffer.from("select 1\0"));
const sync = message("S");
const terminate = message("X");

function walk(framer: FrontendFramer, bytes: Uint8Array): boolean {
  return framer.walk(bytes, bytes.length);
}

describe("FrontendFramer", () => {
  test("is between messages before the first and after each whole one", () => {
    const framer = new FrontendFramer();
    expect(framer.isBetweenMessages).toBe(true);
    for (const bytes of [query, sync, Buffer.concat([query, sync])]) {
      expect(walk(framer, bytes)).toBe(true);
      expect(framer.isBetweenMessages).toBe(true);
    }
  });

  test("finds the same ends when a stream is cut at any byte", () => {
    const stream = Buffer.concat([query, sync, message("d", Buffer.alloc(300)), sync, terminate]);
    const ends = new Set<number>([0]);
    for (let at = 0; at < stream.length; at += stream.readInt32BE(at + 1) + 1) ends.add(at);
    ends.add(stream.length);
    for (let cut = 0; cut <= stream.length; cut++) {
      const framer = new FrontendFramer();
      walk(framer, stream.subarray(0, cut));
      expect(framer.isBetweenMessages).toBe(ends.has(cut));
      walk(framer, stream.subarray(cut));
      expect(framer.isBetweenMessages).toBe(true);
    }
  });

  test("ignores the bytes after the given length", () => {
    const framer = new FrontendFramer();
    framer.walk(Buffer.concat([sync, query]), sync.length);
    expect(framer.isBetweenMessages).toBe(true);
    framer.walk(query, 6);
    expect(framer.isBetweenMessages).toBe(false);
  });

  test("counts every message but Terminate as use", () => {
    const framer = new FrontendFramer();
    expect(walk(framer, terminate)).toBe(false);
    for (const byte of terminate) expect(walk(framer, Buffer.of(byte))).toBe(false);
    expect(walk(framer, Buffer.concat([sync, terminate]))).toBe(true);
    walk(framer, query.subarray(0, 7));
    expect(walk(framer, query.subarray(7))).toBe(true);
  });

  test("skips a message of the greatest length", () => {
    const framer = new FrontendFramer();
    const header = Buffer.from([0x64, 0x3f, 0xff, 0xff, 0xff]);
    const chunk = Buffer.alloc(65_536);
    walk(framer, header);
    let left = 0x3fff_ffff - 4;
    for (; left > chunk.length; left -= chunk.length) walk(framer, chunk);
    walk(framer, chunk.subarray(0, left - 1));
    expect(framer.isBetweenMessages).toBe(false);
    walk(framer, Buffer.of(0));
    expect(framer.isBetweenMessages).toBe(true);
  });

  test.each([0, 1, 3, 0x4000_0000, 0x7fff_ffff, 0xffff_ffff])(
    "is never again between messages after an impossible length of %d",
    (length) => {
      const framer = new FrontendFramer();
      const header = Buffer.alloc(5, "Q");
      header.writeUInt32BE(length, 1);
      expect(walk(framer, header)).toBe(true);
      expect(walk(framer, Buffer.concat([sync, sync]))).toBe(true);
      expect(framer.isBetweenMessages).toBe(false);
    },
  );
});
