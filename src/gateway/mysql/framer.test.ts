// The framer on a client's packets, however they are cut.
import { describe, expect, test } from "bun:test";
import { Answers } from "./answers.ts";
import { ThreadIds } from "./thread-ids.ts";
import { MysqlFramer } from "./framer.ts";

const [QUIT, QUERY, STATISTICS, PING, CHANGE_USER] = [1, 3, 9, 14, 17];

function packet(sequence: number, payload: number[]): number[] {
  const { length } = payload;
  return [length & 255, (length >> 8) & 255, length >> 16, sequence, ...payload];
}

function framerThatAllows(allows = true): { framer: MysqlFramer; seen: string[] } {
  const seen: string[] = [];
  const users = {
    allows(payload: Uint8Array) {
      seen.push(Buffer.from(payload).toString("hex"));
      return allows;
    },
    learn: async () => undefined,
  };
  const framer = new MysqlFramer(users, new ThreadIds(), new Answers(true));
  return { framer, seen };
}

function walk(framer: MysqlFramer, bytes: number[]): { used: boolean; after: number[] } {
  const buffer = Uint8Array.from(bytes);
  return { used: framer.walk(buffer, buffer.length), after: [...buffer] };
}

/** Whether a framer has to ask before it takes these packets. */
function asks(allows: boolean, ...packets: number[][]): boolean {
  const bytes = Uint8Array.from(packets.flat());
  return framerThatAllows(allows).framer.question(bytes, bytes.length) !== null;
}

describe("the framer decides whether a packet is use", () => {
  test.each([
    ["ping", [PING], false],
    ["quit", [QUIT], false],
    ["statistics", [STATISTICS], false],
    ["query", [QUERY, 0x53], true],
    ["a prepared statement's end", [0x19, 1, 0, 0, 0], true],
  ])("%s", (_, payload, used) => {
    const { framer } = framerThatAllows();
    expect(walk(framer, packet(0, payload)).used).toBe(used);
    expect(framer.isBetweenMessages).toBe(true);
  });

  test("a query among pings is use", () => {
    const { framer } = framerThatAllows();
    expect(walk(framer, [...packet(0, [PING]), ...packet(0, [QUERY, 1]), ...packet(0, [PING])]).used).toBe(
      true,
    );
  });

  test("a packet of LOAD DATA LOCAL is use, whatever it contains", () => {
    const { framer } = framerThatAllows();
    walk(framer, packet(0, [QUERY, 1]));
    expect(walk(framer, packet(2, [PING])).used).toBe(true);
  });

  test("the later part of a long query is use", () => {
    const { framer } = framerThatAllows();
    walk(framer, [100, 0, 0, 0, QUERY, 1]);
    expect(walk(framer, [PING, PING]).used).toBe(true);
  });
});

test("the framer knows the end of each message, wherever the bytes are cut", () => {
  const messages = [packet(0, [QUERY, 1, 2, 3]), packet(0, [PING]), packet(2, []), packet(0, [QUERY])];
  const bytes = messages.flat();
  const ends = new Set<number>();
  messages.reduce((sum, { length }) => {
    ends.add(sum + length);
    return sum + length;
  }, 0);
  const { framer } = framerThatAllows();
  for (const [index, byte] of bytes.entries()) {
    walk(framer, [byte]);
    expect(framer.isBetweenMessages).toBe(ends.has(index + 1));
  }
});

test("the framer ignores the bytes after the given length", () => {
  const { framer } = framerThatAllows();
  const bytes = Uint8Array.from([...packet(0, [PING]), ...packet(0, [QUERY, 1])]);
  expect(framer.walk(bytes, 5)).toBe(false);
  expect(framer.isBetweenMessages).toBe(true);
});

test("a message of 16 MB ends with the first packet that is not full", () => {
  const { framer } = framerThatAllows();
  walk(framer, [255, 255, 255, 0, QUERY]);
  expect(framer.walk(new Uint8Array(0xff_fffe), 0xff_fffe)).toBe(true);
  expect(framer.isBetweenMessages).toBe(false);
  // At the beginning of a message the framer would read this byte as a command.
  expect(walk(framer, packet(0, [CHANGE_USER])).after[4]).toBe(CHANGE_USER);
  expect(framer.isBetweenMessages).toBe(true);
});

describe("a command to change the user", () => {
  const request = packet(0, [CHANGE_USER, 0x61, 0, 0]);

  test("is checked whole, and passed on when the rule allows it", () => {
    const { framer, seen } = framerThatAllows();
    expect(walk(framer, [...packet(0, [PING]), ...request]).after.slice(5)).toEqual(request);
    expect(seen).toEqual(["11610000"]);
  });

  test("is replaced by an unknown command when the rule forbids it", () => {
    const { framer } = framerThatAllows(false);
    expect(walk(framer, request).after).toEqual(packet(0, [0xff, 0x61, 0, 0]));
  });

  test("of an unknown user is asked about first, wherever it stands among the packets", () => {
    const close = packet(0, [0x19, 1, 0, 0, 0]);
    expect([asks(false, request), asks(false, close, request)]).toEqual([true, true]);
    expect([asks(true, request), asks(true, close, request), asks(false, close)]).toEqual([
      false,
      false,
      false,
    ]);
    const proof = packet(1, [CHANGE_USER, 0x61, 0, 0]);
    expect([asks(false, proof), asks(false, request.slice(0, -1))]).toEqual([false, false]);
  });

  test("never reaches the engine when its payload arrives in pieces", () => {
    for (let cut = 1; cut < request.length; cut++) {
      const { framer, seen } = framerThatAllows();
      const after = [...walk(framer, request.slice(0, cut)).after, ...walk(framer, request.slice(cut)).after];
      // A header that arrived earlier does not matter.
      expect(after[4]).toBe(cut <= 4 ? CHANGE_USER : 0xff);
      expect(seen.length).toBe(cut <= 4 ? 1 : 0);
    }
  });

  test("is not seen in the packets of a file, even when their sequence numbers wrap around", () => {
    const { framer, seen } = framerThatAllows(false);
    walk(framer, packet(0, [QUERY, 1]));
    for (let sequence = 2; sequence < 600; sequence++) {
      const file = packet(sequence & 255, [CHANGE_USER]);
      expect(walk(framer, file).after).toEqual(file);
    }
    expect(seen).toEqual([]);
  });

  test("is checked right after a file whose last sequence number is the highest", () => {
    const { framer } = framerThatAllows(false);
    for (let sequence = 2; sequence < 255; sequence++) walk(framer, packet(sequence, [1]));
    walk(framer, packet(255, []));
    expect(walk(framer, request).after[4]).toBe(0xff);
  });
});

test.each([10, 250, 251, 252])("a file that the engine asks for after %d rows is no command", (rows) => {
  const { framer } = framerThatAllows(false);
  let sequence = 1;
  const observe = (...payload: number[]) => {
    const bytes = packet(sequence++ & 255, payload);
    framer.observe(Uint8Array.from(bytes), bytes.length);
  };
  walk(framer, packet(0, [QUERY, 1]));
  observe(1);
  observe(3, 0x64, 0x65, 0x66);
  for (let row = 0; row < rows; row++) observe(1, 0x61);
  observe(0xfe, 0, 0, 0x0a, 0, 0, 0);
  observe(0xfb, 0x66);
  for (const file of [[0x61], [0x0a], []]) walk(framer, packet(sequence++ & 255, file));
  expect(framer.isAnswered).toBe(false);
  observe(0, 1, 0, 2, 0, 0, 0);
  expect([framer.isBetweenMessages, framer.isAnswered]).toEqual([true, true]);
  expect(walk(framer, packet(0, [CHANGE_USER, 0x61, 0, 0])).after[4]).toBe(0xff);
});

test("the framer is not between messages until the engine reports the end of the transaction", () => {
  const { framer } = framerThatAllows();
  const observe = (status: number) =>
    framer.observe(Uint8Array.from(packet(1, [0, 0, 0, status, 0, 0, 0])), 11);
  walk(framer, packet(0, [QUERY, 1]));
  expect([framer.isBetweenMessages, framer.isAnswered]).toEqual([true, false]);
  observe(3);
  expect([framer.isBetweenMessages, framer.isAnswered]).toEqual([false, true]);
  walk(framer, packet(0, [QUERY, 1]));
  observe(2);
  expect([framer.isBetweenMessages, framer.isAnswered]).toEqual([true, true]);
});

describe("the framer is not between messages while a statement has parts of its parameters and is not executed", () => {
  const [EXECUTE, LONG_DATA, CLOSE, RESET_STATEMENT, RESET, BULK] = [0x17, 0x18, 0x19, 0x1a, 0x1f, 0xfa];
  const command = (code: number, statement: number) => packet(0, [code, statement, 2, 0, 0, 1, 0, 9]);

  test.each([
    ["its execution", command(EXECUTE, 1)],
    ["its execution in bulk", command(BULK, 1)],
    ["its end", command(CLOSE, 1)],
    ["its reset", command(RESET_STATEMENT, 1)],
    ["the reset of the session", packet(0, [RESET])],
    ["another user", packet(0, [CHANGE_USER, 0x61, 0, 0])],
  ])("until %s", (_, end) => {
    const { framer } = framerThatAllows();
    for (let part = 0; part < 3; part++) walk(framer, command(LONG_DATA, 1));
    expect(framer.isBetweenMessages).toBe(false);
    walk(framer, [...packet(0, [QUERY, 1]), ...packet(0, [PING]), ...command(EXECUTE, 3)]);
    expect(framer.isBetweenMessages).toBe(false);
    walk(framer, end);
    expect(framer.isBetweenMessages).toBe(true);
  });

  test("however the bytes are cut, and for each statement by itself", () => {
    const { framer } = framerThatAllows();
    const bytes = [...command(LONG_DATA, 1), ...command(LONG_DATA, 7), ...command(EXECUTE, 7)];
    for (const byte of bytes) walk(framer, [byte]);
    expect(framer.isBetweenMessages).toBe(false);
    for (const byte of command(CLOSE, 1)) walk(framer, [byte]);
    expect(framer.isBetweenMessages).toBe(true);
  });

  test("and a command without the number of a statement changes nothing", () => {
    const { framer } = framerThatAllows();
    walk(framer, [...packet(0, [LONG_DATA, 1, 0]), ...packet(0, [PING])]);
    expect(framer.isBetweenMessages).toBe(true);
    walk(framer, [...command(LONG_DATA, 1), ...packet(0, [EXECUTE, 1, 2, 0])]);
    expect(framer.isBetweenMessages).toBe(false);
  });
});
