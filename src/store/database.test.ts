// Transactions that wait for each other, against a real Postgres.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { freshDatabase } from "../../tests/support/engines/postgres.ts";
import type { Database, Transaction } from "./database.ts";

let db: Database;
let deadlocks = 0;

beforeAll(async () => {
  db = await freshDatabase(undefined, { onDeadlock: () => void (deadlocks += 1) });
  await db`create table things (id integer primary key, changes integer not null default 0)`;
  // At the end of a transaction, a mark changes the other of the two things.
  await db`create table marks (thing integer)`;
  await db.unsafe(`
    create function change_other() returns trigger language plpgsql as $$
    begin
      update things set changes = changes + 1 where id = 3 - new.thing;
      return null;
    end $$`);
  await db`create constraint trigger change_other after insert on marks deferrable initially deferred
    for each row execute function change_other()`;
});

beforeEach(async () => {
  deadlocks = 0;
  await db`delete from things`;
  await db`insert into things (id) values (1), (2)`;
});

afterAll(() => db.close());

async function change(tx: Transaction, id: number): Promise<void> {
  // At the same moment, both transactions would look for a deadlock, and Postgres would end both. A run that comes before
  // the other has gone on meets it once more.
  await tx.unsafe(`set local deadlock_timeout = '${id * 50}ms'`);
  await tx`update things set changes = changes + 1 where id = ${id}`;
}

/** Resolves for all callers when two have called it. */
function meeting(): () => Promise<void> {
  const met = Promise.withResolvers<void>();
  let callers = 0;
  return async () => {
    callers += 1;
    if (callers === 2) met.resolve();
    await met.promise;
  };
}

test("two transactions that wait for each other are both carried out, once each", async () => {
  const meet = meeting();
  const run = (first: number, second: number) =>
    db.begin(async (tx) => {
      await change(tx, first);
      await meet();
      await tx`update things set changes = changes + 1 where id = ${second}`;
      return first;
    });
  expect(await Promise.all([run(1, 2), run(2, 1)])).toEqual([1, 2]);
  expect(await db`select changes from things`.values()).toEqual([[2], [2]]);
  expect(deadlocks).toBeGreaterThan(0);
});

test("two transactions whose commits wait for each other are both carried out, once each", async () => {
  const meet = meeting();
  const run = (id: number) =>
    db.begin("isolation level read committed", async (tx) => {
      await change(tx, id);
      await tx`insert into marks values (${id})`;
      await meet();
    });
  await Promise.all([run(1), run(2)]);
  expect(await db`select changes from things`.values()).toEqual([[2], [2]]);
  expect(deadlocks).toBeGreaterThan(0);
});

test("a transaction that ends in a deadlock each time is given up with the error", async () => {
  const deadlock = "do $$ begin raise exception 'again' using errcode = 'deadlock_detected'; end $$";
  const given = db.begin(async (tx) => await tx.unsafe(deadlock));
  expect(await given.catch((error: unknown) => error)).toMatchObject({ errno: "40P01" });
  expect(deadlocks).toBe(4);
});

test("a transaction that ends with another error is not run again", async () => {
  let runs = 0;
  const given = db.begin(async () => {
    runs += 1;
    throw new Error("refused");
  });
  expect(await given.catch((error: unknown) => error)).toEqual(new Error("refused"));
  expect(runs).toBe(1);
});
