// Following an engine's answers, however they are cut: which commands are answered, and whether there is a transaction.
import { describe, expect, test } from "bun:test";
import { Answers } from "./answers.ts";

const [QUERY, FIELD_LIST, STATISTICS, PING] = [0x03, 0x04, 0x09, 0x0e];
const [CHANGE_USER, PREPARE, EXECUTE, LONG_DATA, CLOSE] = [0x11, 0x16, 0x17, 0x18, 0x19];
const [SET_OPTION, FETCH, RESET_CONNECTION] = [0x1b, 0x1c, 0x1f];

const AUTOCOMMIT = 2;
const TRANSACTION = 1;
const MORE = 8;
const CURSOR = 0x40;
const LAST_ROW = 0x80;
const FULL = 0xff_ffff;

const NUMBER_OF_COLUMNS = [2];
const COLUMN = [3, 0x64, 0x65, 0x66, ...Buffer.from("a column of a table that is somewhere")];
/** A text row with an empty first value, and a binary row: as an OK each would say that there is a transaction. */
const TEXT_ROW = [0, 0, 0, TRANSACTION, 0, 0, 0];
const BINARY_ROW = [0, 0, 0, TRANSACTION, 0, 0, 0, 0x61];
const ERROR = [0xff, 0x28, 0x04, ...Buffer.from("#42000You have an error")];
const PROGRESS = [0xff, 0xff, 0xff, 1, 1, 2, 0, 0, 0];

function ok(status: number, numbers = [0, 0]): number[] {
  return [0, ...numbers, status, 0, 0, 0];
}

function oldEof(status: number): number[] {
  return [0xfe, 0, 0, status, 0];
}

function newEof(status: number): number[] {
  return [0xfe, 0, 0, status, 0, 0, 0];
}

function prepared(columns: number, parameters: number): number[] {
  // Read as an OK, the statement's number would be a status with a transaction.
  return [0, 1, 1, 1, 1, columns, 0, parameters, 0, 0, 0, 0];
}

function framed(payloads: number[][]): Uint8Array {
  return Uint8Array.from(
    payloads.flatMap((payload, index) => [
      payload.length & 255,
      payload.length >> 8,
      0,
      index + 1,
      ...payload,
    ]),
  );
}

function observe(answers: Answers, ...payloads: number[][]): void {
  const bytes = framed(payloads);
  answers.observe(bytes, bytes.length);
}

/** Answers after an OK whose status has a transaction. */
function inTransaction(deprecatesEof = true): Answers {
  const answers = new Answers(deprecatesEof);
  answers.ask(QUERY);
  observe(answers, ok(AUTOCOMMIT | TRANSACTION));
  expect([answers.isComplete, answers.isInTransaction]).toEqual([true, true]);
  return answers;
}

/** A command, the packets of its answer, and whether the session is in a transaction then. */
type Exchange = [name: string, command: number, payloads: number[][], isInTransaction: boolean];

const WITHOUT_EOF: Exchange[] = [
  ["start transaction", QUERY, [ok(AUTOCOMMIT | TRANSACTION)], true],
  ["an error", QUERY, [ERROR], true],
  ["statistics", STATISTICS, [[...Buffer.from("Uptime: 8  Threads: 1")]], true],
  ["a statement without columns and parameters", PREPARE, [prepared(0, 0)], true],
  ["commit", QUERY, [ok(AUTOCOMMIT)], false],
  ["rows of text", QUERY, [NUMBER_OF_COLUMNS, COLUMN, COLUMN, TEXT_ROW, TEXT_ROW, newEof(AUTOCOMMIT)], false],
  ["no rows", QUERY, [NUMBER_OF_COLUMNS, COLUMN, COLUMN, newEof(AUTOCOMMIT)], false],
  ["rows behind columns that are known", EXECUTE, [[2, 0], BINARY_ROW, newEof(AUTOCOMMIT)], false],
  ["a statement", PREPARE, [prepared(2, 1), COLUMN, COLUMN, COLUMN], false],
  [
    "rows of a statement",
    EXECUTE,
    [NUMBER_OF_COLUMNS, COLUMN, COLUMN, BINARY_ROW, newEof(TRANSACTION)],
    true,
  ],
  ["a reset", RESET_CONNECTION, [ok(AUTOCOMMIT)], false],
  ["a cursor", EXECUTE, [NUMBER_OF_COLUMNS, COLUMN, COLUMN, newEof(CURSOR | TRANSACTION)], true],
  ["rows of a cursor", FETCH, [BINARY_ROW, BINARY_ROW, newEof(CURSOR)], false],
  ["the last rows of a cursor", FETCH, [BINARY_ROW, newEof(LAST_ROW | TRANSACTION)], true],
  ["no rows of a cursor", FETCH, [newEof(LAST_ROW)], false],
  ["an option", SET_OPTION, [newEof(TRANSACTION)], true],
  ["fields", FIELD_LIST, [COLUMN, COLUMN, newEof(AUTOCOMMIT)], false],
  ["many rows changed", QUERY, [ok(TRANSACTION, [0xfc, 0, 2, 0xfe, 0, 0, 0, 0, 0, 0, 0, 9])], true],
  ["more rows changed", QUERY, [ok(AUTOCOMMIT, [0xfd, 1, 1, 1, 250])], false],
  [
    "several results",
    QUERY,
    [ok(MORE | TRANSACTION), [1], COLUMN, TEXT_ROW, newEof(MORE), ok(TRANSACTION)],
    true,
  ],
  ["results that end with an error", QUERY, [ok(MORE), [1], COLUMN, TEXT_ROW, ERROR], false],
  ["how far it has come", QUERY, [PROGRESS, PROGRESS, ok(TRANSACTION)], true],
  ["an error among rows", QUERY, [NUMBER_OF_COLUMNS, COLUMN, COLUMN, TEXT_ROW, ERROR], true],
  ["a file", QUERY, [[0xfb, ...Buffer.from("lines.csv")], ok(AUTOCOMMIT)], false],
  ["a ping", PING, [ok(TRANSACTION)], true],
  ["another user", CHANGE_USER, [[0xfe, ...Buffer.from("native\0salt")], [1, 4], ok(AUTOCOMMIT)], false],
];

const WITH_EOF: Exchange[] = [
  ["rows", QUERY, [[1], COLUMN, oldEof(AUTOCOMMIT), TEXT_ROW, oldEof(TRANSACTION)], true],
  ["no rows", QUERY, [[1], COLUMN, oldEof(TRANSACTION), oldEof(AUTOCOMMIT)], false],
  ["an error instead of rows", QUERY, [[1], COLUMN, oldEof(TRANSACTION), ERROR], true],
  ["a statement", PREPARE, [prepared(1, 1), COLUMN, oldEof(0), COLUMN, oldEof(0)], true],
  ["a statement without parameters", PREPARE, [prepared(1, 0), COLUMN, oldEof(0)], true],
  ["rows of a statement", EXECUTE, [[1], COLUMN, oldEof(0), BINARY_ROW, oldEof(AUTOCOMMIT)], false],
  ["a cursor", EXECUTE, [[1], COLUMN, oldEof(CURSOR | TRANSACTION)], true],
  ["rows of a cursor", FETCH, [BINARY_ROW, oldEof(LAST_ROW)], false],
  ["several results", QUERY, [[1], COLUMN, oldEof(MORE), TEXT_ROW, oldEof(MORE), ok(TRANSACTION)], true],
  ["an option", SET_OPTION, [oldEof(AUTOCOMMIT)], false],
  ["fields", FIELD_LIST, [COLUMN, COLUMN, oldEof(TRANSACTION)], true],
];

const KINDS = [
  { name: "without EOF", deprecatesEof: true, exchanges: WITHOUT_EOF },
  { name: "with EOF", deprecatesEof: false, exchanges: WITH_EOF },
];

describe.each(KINDS)("following a conversation $name", ({ deprecatesEof, exchanges }) => {
  test("knows after each packet whether its command is answered", () => {
    const answers = new Answers(deprecatesEof);
    for (const [name, command, payloads, isInTransaction] of exchanges) {
      answers.ask(command);
      for (const payload of payloads) {
        expect([name, answers.isComplete]).toEqual([name, false]);
        observe(answers, payload);
      }
      expect([name, answers.isComplete, answers.isInTransaction]).toEqual([name, true, isInTransaction]);
    }
  });

  test("gives the same results for pipelined commands and answers cut anywhere", () => {
    const bytes = Buffer.concat(exchanges.map(([, , payloads]) => framed(payloads)));
    const ends = new Map<number, boolean>();
    exchanges.reduce((sum, [, , payloads, isInTransaction]) => {
      const end = sum + framed(payloads).length;
      ends.set(end, isInTransaction);
      return end;
    }, 0);
    for (let round = 0; round < 300; round++) {
      const answers = new Answers(deprecatesEof);
      for (const [, command] of exchanges) answers.ask(command);
      const longest = 1 + Math.floor(Math.random() * 200);
      for (let at = 0; at < bytes.length;) {
        const end = Math.min(bytes.length, at + 1 + Math.floor(Math.random() * longest));
        // The bytes behind the given length are not part of the answer.
        answers.observe(Buffer.concat([bytes.subarray(at, end), Buffer.alloc(40, 0xff)]), end - at);
        const expected = ends.get(end);
        if (expected !== undefined) expect([end, answers.isInTransaction]).toEqual([end, expected]);
        expect(answers.isComplete).toBe(end === bytes.length);
        at = end;
      }
    }
  });
});

test("a command that the engine never answers is not awaited", () => {
  const answers = inTransaction();
  for (const command of [LONG_DATA, CLOSE, 0x01]) answers.ask(command);
  expect(answers.isComplete).toBe(true);
  observe(answers, ERROR);
  expect([answers.isComplete, answers.isInTransaction]).toEqual([true, true]);
  answers.ask(QUERY);
  expect(answers.isComplete).toBe(false);
  observe(answers, ok(AUTOCOMMIT));
  expect([answers.isComplete, answers.isInTransaction]).toEqual([true, false]);
});

test("thousands of pipelined commands keep their order", () => {
  const answers = new Answers(true);
  for (let count = 0; count < 5_000; count++) answers.ask(count % 2 === 0 ? PREPARE : QUERY);
  for (let count = 0; count < 5_000; count++) {
    expect(answers.isComplete).toBe(false);
    observe(answers, count % 2 === 0 ? prepared(0, 0) : ok(count % 4 === 1 ? TRANSACTION : 0));
    expect(answers.isInTransaction).toBe(count % 4 === 1 || (count % 4 === 2 && count > 0));
    answers.ask(PING);
  }
  for (let count = 0; count < 5_000; count++) observe(answers, ok(TRANSACTION));
  expect([answers.isComplete, answers.isInTransaction]).toEqual([true, true]);
});

describe.each(["at once", "in pieces"])("a value of 16 MB that comes %s", (way) => {
  test.each([0, 5, FULL])("and %d bytes is followed to the end of its row", (rest) => {
    const answers = inTransaction();
    answers.ask(QUERY);
    observe(answers, [1], COLUMN);
    const row = Buffer.alloc(4 + FULL + 4 + rest, 0xfe);
    row.set([0xff, 0xff, 0xff, 3], 0);
    row.set([rest & 255, (rest >> 8) & 255, rest >> 16, 4], 4 + FULL);
    const last = rest === FULL ? framed([[]]) : Buffer.alloc(0);
    const bytes = Buffer.concat([row, last, framed([TEXT_ROW]), framed([newEof(AUTOCOMMIT)])]);
    const step = way === "at once" ? bytes.length : 131_071;
    for (let at = 0; at < bytes.length; at += step) {
      expect(answers.isComplete).toBe(false);
      answers.observe(bytes.subarray(at), Math.min(step, bytes.length - at));
    }
    expect([answers.isComplete, answers.isInTransaction]).toEqual([true, false]);
  });
});
