// Customers of MySQL with more or larger objects than the host reads: the owner gets clean and short words, and other
// customers wake as fast as ever.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Connection } from "mysql2/promise";
import { BoundsVictim, expanded } from "../support/load/bounds-victim.ts";
import { connectMysql, createCluster, MYSQL } from "../support/pilvi/databases.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";
import attacks from "./data/bounds-mysql.json";

type Attack = (typeof attacks)[number];

/** Control characters that a terminal would obey. */
const CONTROL = /[^\P{Cc}\n]/u;
const LONGEST_ANSWER = 3_000;

let victim: BoundsVictim;

beforeAll(async () => {
  victim = await BoundsVictim.begin();
});
afterAll(async () => await victim.pilvi.close());

/** A statement for a session, with all its repetitions. */
function statementFor(session: number, statement: string): string {
  return expanded(statement.replaceAll("{session}", String(session)));
}

/** Runs the statements in a session, which stays open, has ended, or runs the last statement when it resolves. */
async function carryOut(client: Connection, session: number, attack: Attack): Promise<void> {
  const statements = attack.statements.map((statement) => statementFor(session, statement));
  const last = attack.then === "runs" ? statements.pop() : undefined;
  for (const statement of statements) await client.query(statement);
  if (attack.then === "ends") await client.end();
  // The end of its cluster ends it.
  if (last !== undefined) void client.query(last).catch(() => undefined);
}

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
  const before = await victim.wakes();
  const cluster = await createCluster(victim.pilvi, { name: "hostile", type: MYSQL });
  const clients: Connection[] = [];
  for (let session = 0; session < attack.sessions; session++) {
    const client = await connectMysql(cluster);
    client.on("error", () => undefined);
    clients.push(client);
    await carryOut(client, session, attack);
  }
  const sleeper = new Sleeper(victim.pilvi, cluster);
  const beside = await victim.wakes(async () => {
    const { status, body } = await sleeper.suspend();
    expect(status).toBe(409);
    expect(JSON.stringify(body).length).toBeLessThan(LONGEST_ANSWER);
    expect(body.message).not.toMatch(CONTROL);
    expect(body.message).toContain(attack.reported);
  });
  await victim.pilvi.api("DELETE", `/databases/clusters/${cluster.id}`);
  for (const client of clients) client.destroy();
  await victim.expectUnharmed(before, beside);
});
