// The common tests of database drivers whose database sleeps, wakes, and is asked to sleep meanwhile.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { loginOf } from "../../support/pilvi/databases.ts";
import type { Sleeper } from "../../support/pilvi/sleepers.ts";

const LARGE = "é東".repeat(1024 ** 2);

export type Login = ReturnType<typeof loginOf>;

/** Runs a query, prepared with its argument if there is one, and gives the first column of the first row. */
export type Ask = (sql: string, argument?: string) => Promise<unknown>;

/** A pool of some connections. */
export interface Connections {
  ask: Ask;
  transaction(work: (ask: Ask) => Promise<void>): Promise<void>;
  close(): Promise<unknown>;
}

export interface Driver {
  name: string;
  /** Its application name. */
  application: string | null;
  /** @param ca the authority's certificate. @param most how many connections it may have. */
  open(login: Login, ca: string, most: number): Connections;
  /** Opens a single connection, for drivers whose pools try again after a wrong password. */
  connect?(login: Login, ca: string): Promise<unknown>;
  /** Whether it speaks TLS. */
  isSecure?: true;
}

/** A database that is asleep when drivers connect. */
export interface Place {
  cluster: DatabaseClusterResource;
  sleeper: Sleeper;
  /** The file with the authority's certificate. */
  authority: string;
}

/** The SQL of the tried statements, and the error of its drivers for a wrong password. */
export interface Dialect {
  /** Returns its argument. */
  echo: string;
  insert: string;
  /** Takes longer than falling asleep. */
  pause: string;
  wrong: object;
}

/** Registers the tests of all drivers. @param placeOf is called when the tests run. */
export function tryDrivers(drivers: Driver[], { echo, insert, pause, wrong }: Dialect, placeOf: () => Place) {
  describe.each(drivers)("$name", ({ application, open, connect, isSecure }) => {
    const waker = { user: "app", database: "main", application };
    let pool: Connections;
    let sleeper: Sleeper;
    let login: Login;
    let ca: string;
    beforeEach(() => {
      const { cluster, authority, ...place } = placeOf();
      sleeper = place.sleeper;
      login = loginOf(cluster);
      ca = readFileSync(authority, "utf8");
      pool = open(login, ca, 4);
    });
    afterEach(() => pool.close());

    test("wakes it once with many queries at a time", async () => {
      const words = Array.from({ length: 40 }, (_, index) => `é${index}`);
      const all = () => Promise.all(words.map((word) => pool.ask(echo, word)));
      expect(await sleeper.wokenBy(waker, all)).toEqual(words);
    });

    test("goes on with its next query after a sleep", async () => {
      for (const word of ["a", "b", "c"])
        expect(await sleeper.wokenBy(waker, () => pool.ask(echo, word))).toBe(word);
      expect(await pool.ask(echo, "d")).toBe("d");
    });

    const failToConnect = async (as: Login, authority: string): Promise<unknown> => {
      if (connect !== undefined) return await connect(as, authority).catch((error: unknown) => error);
      const opened = open(as, authority, 1);
      const thrown = await opened.ask("select 1").catch((error: unknown) => error);
      await opened.close();
      return thrown;
    };

    test("gets the usual error for a wrong password, which wakes nobody", async () => {
      const intruder = { ...login, password: "wrong" };
      expect(await sleeper.sleepsThrough(() => failToConnect(intruder, ca))).toMatchObject(wrong);
    });

    if (isSecure) {
      test("believes no other authority, and wakes nobody", async () => {
        const thrown = await sleeper.sleepsThrough(() => failToConnect(login, rootCertificates[0] ?? ""));
        expect(String(thrown)).toMatch(/certificate|issuer/i);
      });
    }

    test("is waited for in the middle of a transaction", async () => {
      await pool.ask("create table visits (t text)");
      await sleeper.sleepsAfter(async (ask) => {
        await pool.transaction(async (query) => {
          await query(insert, "first");
          ask();
          await query(pause);
          await query(insert, "second");
        });
      });
      expect(Number(await pool.ask("select count(*) from visits"))).toBe(2);
      await pool.ask("drop table visits");
    });

    test("sends and gets large values", async () => {
      expect((await pool.ask(echo, LARGE)) === LARGE).toBe(true);
    });
  });
}

/** The pool of Bun itself, which speaks both protocols. */
export function openBun(adapter: "postgres" | "mysql", login: Login, max: number, ca?: string): Connections {
  const { host: hostname, user: username, ...rest } = login;
  const sql = new SQL({
    adapter,
    ...rest,
    hostname,
    username,
    max,
    ...(ca !== undefined && { tls: { ca } }),
  });
  return {
    ask: (text, argument) => askBun(sql, text, argument),
    async transaction(work) {
      await sql.begin(async (tx) => await work((text, argument) => askBun(tx, text, argument)));
    },
    close: () => sql.close(),
  };
}

async function askBun(on: Pick<SQL, "unsafe">, text: string, argument?: string): Promise<unknown> {
  const rows = (await on.unsafe(text, argument === undefined ? [] : [argument]).values()) as unknown[][];
  return rows[0]?.[0];
}
