// Work of several kinds on one resource, against a real Postgres: each has a lease of its own.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../store/database.ts";
import { becomeOwner } from "./owner.ts";
import { claim, enqueue, freeAbandoned } from "./queue.ts";
import { renewLeases } from "./renewals.ts";
import { allOn, HOST, queueStore, sessionOf } from "./test-support.ts";

let db: Database;
beforeAll(async () => {
  db = await queueStore();
});
afterAll(() => db.close());

test("the lease of one kind is renewed and freed without that of another", async () => {
  const owner = await becomeOwner((onClose) => sessionOf(db, onClose));
  const order = { id: "thing-1", hostId: HOST, deadlineSeconds: 60 };
  for (const kind of ["parts", "things"]) await db.begin((tx) => enqueue(tx, { kind, ...order }));
  await claim(db, owner.id, allOn(HOST), 2);
  expect(await renewLeases(db, owner.id, ["parts/thing-1"])).toEqual({ lost: [], locked: [] });
  await freeAbandoned(db, { owner: owner.id, keys: ["parts/thing-1"] });
  const rows = await db`select kind, owner from work order by kind`;
  expect([...rows]).toEqual([
    { kind: "parts", owner: owner.id },
    { kind: "things", owner: null },
  ]);
  await owner.close();
});
