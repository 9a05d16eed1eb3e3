// The thread ids by which clients end each other's queries.
import { describe, expect, test } from "bun:test";
import { makeThreadId, mayNameThreads, ThreadIds } from "./thread-ids.ts";

const made = makeThreadId();
const ids = new ThreadIds();
ids.set(made, 42);

function replaced(statement: string, command = 3): string {
  const payload = Buffer.concat([Uint8Array.of(command), Buffer.from(statement)]);
  ids.replaceIn(payload);
  return Buffer.from(payload.subarray(1)).toString();
}

describe("a thread id made by the gateway", () => {
  test.each([
    ["kill ", ""],
    ["KILL QUERY ", ""],
    ["  kill connection ", " ;"],
    ["kill hard query ", ";"],
    ["/* app=shop */ /**/ KILL QUERY ", ""],
    ["-- of the shop\n# twice\n kill ", ""],
    ["SELECT * FROM information_schema.PROCESSLIST WHERE id = ", " and state = 'x'"],
    ["select * from information_schema.processlist where info = 'it''s' and id = '", "'"],
    ["/* app */ (select trx_state from information_schema.innodb_trx where trx_mysql_thread_id = ", ")"],
    ["show full processlist where id in (1, ", ")"],
  ])("is replaced in %p", (before, after) => {
    expect(replaced(`${before}${made}${after}`)).toBe(`${before}0000000042${after}`);
  });

  test("is replaced in a statement that is prepared", () => {
    expect(replaced(`kill query ${made}`, 0x16)).toBe("kill query 0000000042");
  });

  test("is looked for within a time that grows with the statement alone", () => {
    const comments = "/**/".repeat(250);
    expect(replaced(`${comments} ${made}`)).toBe(`${comments} ${made}`);
  });

  test.each([" ", "(", "( ", " (", "--\n", "#\n", "/**/", "/*", "'", "select "])(
    "is looked for once in a statement of many %p",
    (text) => {
      const statement = `${text.repeat(500)} processlist`.slice(-1_000);
      // Looking again from each place would take a millisecond for each.
      for (let each = 0; each < 20_000; each += 1) replaced(statement);
    },
    10_000,
  );

  test.each([
    ["select ", ""],
    ["insert into t values ", ""],
    ["/* kill */ select ", ""],
    ["kill 9", ""],
    ["insert into audit values ('seen in processlist', ", ")"],
    ["update audit set note = 'processlist', id = ", ""],
    ["create table t select * from information_schema.processlist where id = ", ""],
    ["select * from information_schema.processlist where info like 'client ", "'"],
    ['select "{\\"id\\": 1}" from information_schema.processlist where id = ', ""],
    ["select * from information_schema.processlist where id = 1", ""],
  ])("is left alone in %p", (before, after) => {
    expect(replaced(`${before}${made}${after}`)).toBe(`${before}${made}${after}`);
  });

  test("is left alone when no connection has it", () => {
    expect(replaced(`kill ${made + 1}`)).toBe(`kill ${made + 1}`);
  });

  test("is replaced in the binary command COM_PROCESS_KILL", () => {
    const payload = Buffer.alloc(5);
    payload[0] = 0x0c;
    payload.writeUInt32LE(made, 1);
    ids.replaceIn(payload);
    expect(payload.readUInt32LE(1)).toBe(42);
  });
});

test("a thread id made by the gateway is replaced for clients that read it with a sign", () => {
  const unsigned = makeThreadId();
  ids.set(unsigned, 43);
  const [signed] = new Int32Array(Uint32Array.of(unsigned).buffer);
  expect(replaced(`KILL QUERY ${signed}`)).toBe("KILL QUERY 0000000043");
});

test("only short commands that may name a connection are searched for thread ids", () => {
  expect(mayNameThreads(0x0c, 5)).toBe(true);
  expect(mayNameThreads(3, 100)).toBe(true);
  expect(mayNameThreads(3, 10_000)).toBe(false);
  expect(mayNameThreads(0x16, 100)).toBe(true);
  expect(mayNameThreads(0x17, 100)).toBe(false);
});
