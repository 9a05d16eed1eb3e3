// Clients of a cache that sleeps, wakes, and is asked to sleep meanwhile; their connections outlast all of it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Redis, type RedisOptions } from "ioredis";
import { createClient } from "redis";
import { loadConfig } from "../../../src/config.ts";
import { findEngines } from "../../../src/engines/installed.ts";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { enginePath } from "../../support/clients/engine-programs.ts";
import { PHP, PhpWorker } from "../../support/clients/php.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { runProgram } from "../../support/clients/programs.ts";
import { Sleeper, writeAuthority } from "../../support/pilvi/sleepers.ts";
import { TerminalProgram } from "../../support/pilvi/terminal.ts";

const LARGE = "é東".repeat(512 * 1024);
/** Runs for longer than falling asleep takes. */
const PAUSE = "for i = 1, 3e7 do end return 'paused'";
const WAKER = { user: "app", database: "3", application: "shop" };

interface Login {
  host: string;
  port: number;
  username: string;
  password: string;
}

/** A connection to the database 3, with the name `shop`, which is not opened again. */
interface Connection {
  send(name: string, ...args: string[]): Promise<unknown>;
  close(): unknown;
}

interface CacheClient {
  name: string;
  open(login: Login, ca: string): Promise<Connection>;
  /** Whether it sends a command to the engine when it connects. */
  wakesAtOnce?: boolean;
  isHere?: boolean;
}

async function openIoredis(login: Login, options: RedisOptions = {}): Promise<Connection> {
  const settings = { db: 3, connectionName: "shop", lazyConnect: true, retryStrategy: null as never };
  const client = new Redis({ ...login, ...settings, ...options });
  const refused = new Promise<never>((_, reject) => client.on("error", reject));
  // No call awaits later errors.
  refused.catch(() => undefined);
  await Promise.race([client.connect(), refused]);
  return { send: (name, ...args) => client.call(name, ...args), close: () => client.disconnect() };
}

async function openNodeRedis(login: Login, RESP: 2 | 3, ca?: string): Promise<Connection> {
  const { host, port, ...user } = login;
  const tls = ca === undefined ? {} : { tls: true as const, ca };
  const socket = { host, port, reconnectStrategy: false as const, ...tls };
  const client = createClient({ ...user, socket, database: 3, name: "shop", RESP });
  client.on("error", () => undefined);
  await client.connect();
  return { send: (...command) => client.sendCommand(command), close: () => client.destroy() };
}

async function openBun({ host, port, username, password }: Login, ca?: string): Promise<Connection> {
  const url = `${ca === undefined ? "redis" : "rediss"}://${username}:${password}@${host}:${port}/3`;
  const tls = ca === undefined ? {} : { tls: { ca } };
  const client = new Bun.RedisClient(url, { autoReconnect: false, ...tls });
  await client.send("CLIENT", ["SETNAME", "shop"]);
  return { send: (name, ...args) => client.send(name, args), close: () => client.close() };
}

async function openPhp({ host, port, username, password }: Login, authority?: string): Promise<Connection> {
  const php = new PhpWorker();
  const isSecure = authority !== undefined;
  const tls = isSecure ? `'stream' => ['cafile' => '${authority}']` : "";
  await php.run(`
    $r = new Redis();
    $r->connect('${isSecure ? "tls://" : ""}${host}', ${port}, 30, null, 0, 30, [${tls}]);
    $r->auth(['${username}', '${password}']);
    $r->select(3);
    return $r->client('setname', 'shop');`);
  return {
    send: (...command) => {
      const words = command.map((word) => `base64_decode('${Buffer.from(word).toString("base64")}')`);
      const error = "$e = $r->getLastError(); $r->clearLastError(); if ($e) throw new Exception($e);";
      return php.run(`$v = $r->rawCommand(${words.join(", ")}); ${error} return $v;`);
    },
    close: () => php.close(),
  };
}

let pilvi: TestPilvi;
let cache: CacheResource;
let sleeper: Sleeper;
let login: Login;
let authority: string;

const CLIENTS: CacheClient[] = [
  { name: "ioredis", open: (as) => openIoredis(as), wakesAtOnce: true },
  { name: "ioredis, with TLS", open: (as, ca) => openIoredis(as, { tls: { ca } }), wakesAtOnce: true },
  { name: "ioredis, without INFO", open: (as) => openIoredis(as, { enableReadyCheck: false }) },
  { name: "redis, with RESP2", open: (as) => openNodeRedis(as, 2) },
  { name: "redis, with RESP3", open: (as) => openNodeRedis(as, 3) },
  { name: "redis, with TLS", open: (as, ca) => openNodeRedis(as, 3, ca) },
  { name: "Bun.RedisClient", open: (as) => openBun(as) },
  { name: "Bun.RedisClient, with TLS", open: (as, ca) => openBun(as, ca) },
  { name: "PHP, where it can be had", open: (as) => openPhp(as), isHere: PHP !== null },
  { name: "PHP with TLS, where it can be had", open: (as) => openPhp(as, authority), isHere: PHP !== null },
];

beforeAll(async () => {
  pilvi = await startPilvi();
  cache = await pilvi.createCache({ uses_hibernation: true, eviction_policy: "noeviction" });
  sleeper = new Sleeper(pilvi, cache);
  login = loginOf(cache);
  authority = await writeAuthority(pilvi);
});
afterAll(() => pilvi.close());

function loginOf({ attributes: { connection } }: CacheResource): Login {
  const { hostname: host, port, username = "", password = "" } = connection;
  return { host, port, username, password };
}

for (const { name, open, wakesAtOnce = false, isHere = true } of CLIENTS) {
  describe.skipIf(!isHere)(name, () => {
    let client: Connection;
    let ca: string;
    beforeEach(async () => {
      ca = readFileSync(authority, "utf8");
      const connect = () => open(login, ca);
      client = await (wakesAtOnce ? sleeper.wokenBy(WAKER, connect) : sleeper.sleepsThrough(connect));
    });
    afterEach(async () => {
      await client.send("FLUSHALL");
      await client.close();
    });

    test("wakes it with its first command, and once with many", async () => {
      expect(String(await sleeper.sleepsThrough(() => client.send("PING")))).toMatch(/PONG|true/);
      const commands = Array.from({ length: 50 }, () => ["INCR", "n"] as const);
      const all = () => Promise.all(commands.map((command) => client.send(...command)));
      expect(await sleeper.wokenBy(WAKER, all)).toEqual(commands.map((_, index) => index + 1));
    });

    test("goes on with the same connection after sleeps, with its database and name", async () => {
      await client.send("SET", "word", "moi", "PX", "600000");
      for (let round = 0; round < 2; round++)
        expect(await sleeper.wokenBy(WAKER, () => client.send("GET", "word"))).toBe("moi");
      expect(await client.send("CLIENT", "GETNAME")).toBe("shop");
      expect(String(await client.send("CLIENT", "INFO"))).toContain(" db=3 ");
      const left = Number(await client.send("PTTL", "word"));
      expect(left).toBeGreaterThan(400_000);
      expect(left).toBeLessThan(600_000);
    });

    test("gets the usual error for a wrong password, which wakes no cache", async () => {
      const intruder = { ...login, password: "wrong" };
      const error = await sleeper.sleepsThrough(() => open(intruder, ca).catch((thrown: unknown) => thrown));
      expect(String(error)).toContain("WRONGPASS");
    });

    test("is waited for while a script runs, and in the middle of a transaction", async () => {
      const other = await open(login, ca);
      await sleeper.sleepsAfter(async (ask) => {
        await client.send("MULTI");
        await client.send("INCR", "visits");
        const pause = other.send("EVAL", PAUSE, "0");
        ask();
        expect(await pause).toBe("paused");
        expect(await client.send("EXEC")).toEqual([1]);
      });
      expect(await client.send("GET", "visits")).toBe("1");
      await other.close();
    });

    test("sends and gets large values", async () => {
      await client.send("SET", "large", LARGE);
      await sleeper.sleep();
      expect((await client.send("GET", "large")) === LARGE).toBe(true);
    });
  });
}

test("a blocking command at a sleeping cache wakes it, and keeps it awake until it is answered", async () => {
  const [waiting, other] = await Promise.all([openIoredis(login), openNodeRedis(login, 3)]);
  for (const push of ["first", "second"]) {
    await sleeper.sleepsAfter(async (ask) => {
      const popped = waiting.send("BLPOP", "queue", "0");
      await until("it waits", async () => String(await other.send("INFO")).includes("blocked_clients:1"));
      ask();
      await other.send("EVAL", PAUSE, "0");
      await other.send("RPUSH", "queue", push);
      expect(await popped).toEqual(["queue", push]);
    });
  }
  waiting.close();
  other.close();
});

test("a published message reaches all subscribers, and their connections outlast a sleep once they unsubscribe", async () => {
  const received: string[] = [];
  const second = createClient({ ...userOf(login), RESP: 3 });
  await second.connect();
  await sleeper.wokenBy({ user: "app", database: null, application: "node-redis" }, () =>
    second.subscribe("news", (message, channel) => void received.push(`second ${channel} ${message}`)),
  );
  const first = new Redis(login);
  first.on("message", (channel, message) => received.push(`first ${channel} ${message}`));
  await first.subscribe("news");
  const other = await openIoredis(login);
  expect(await other.send("PUBLISH", "news", "moi")).toBe(2);
  await until("both receive the message", () => received.length === 2);
  expect(received.toSorted()).toEqual(["first news moi", "second news moi"]);
  await Promise.all([first.unsubscribe("news"), second.unsubscribe("news")]);
  await sleeper.sleep();
  expect(await second.ping()).toBe("PONG");
  expect(await first.set("after", "sleep")).toBe("OK");
  expect(await second.get("after")).toBe("sleep");
  first.disconnect();
  other.close();
  second.destroy();
});

test("watched keys are watched until the transaction, and maps are maps in RESP3 before and after a sleep", async () => {
  const client = createClient({ ...userOf(login), RESP: 3 });
  await client.connect();
  await client.hSet("user", { name: "Ann", city: "東京" });
  const other = await openIoredis(login, { db: 0 });
  await client.watch("user");
  await other.send("HSET", "user", "name", "Bo");
  await expect(client.multi().hGet("user", "name").exec()).rejects.toThrow("watched keys");
  await sleeper.sleep();
  expect({ ...(await client.hGetAll("user")) }).toEqual({ name: "Bo", city: "東京" });
  expect<unknown>(await client.multi().hGet("user", "name").hLen("user").exec()).toEqual(["Bo", 2]);
  other.close();
  client.destroy();
});

describe.each(["valkey", "redis"])("%s-cli", (engine) => {
  let run: (...args: string[]) => Promise<string>;
  let command: string[];
  let env: Record<string, string>;
  let own: Sleeper;
  beforeAll(async () => {
    const attributes = engine === "redis" ? { type: "hosted_redis", size: "250mb" } : {};
    const resource =
      engine === "redis" ? await pilvi.createCache({ uses_hibernation: true, ...attributes }) : cache;
    own = new Sleeper(pilvi, resource);
    const { port, username, password } = loginOf(resource);
    const found = (await findEngines(loadConfig(process.env).enginesDir)).find(({ name }) => name === engine);
    if (found === undefined) throw new Error(`${engine} is not installed`);
    const program = enginePath(found, `${engine}-cli`);
    env = { ...found.env, REDISCLI_AUTH: password, HOME: pilvi.dataDir };
    command = [program, "-p", String(port), "--user", username, "-n", "3"];
    run = (...args) => runProgram([...command, ...args], env);
  });

  test.each(["-2", "-3", "--tls"])("wakes it, with %s", async (option) => {
    const all = option === "--tls" ? [option, "--cacert", authority] : [option];
    expect(await own.sleepsThrough(() => run(...all, "PING"))).toBe("PONG\n");
    const waker = { ...WAKER, application: null };
    expect(await own.wokenBy(waker, () => run(...all, "SET", "word", "moi"))).toBe("OK\n");
    expect(await run(...all, "GET", "word")).toBe("moi\n");
    expect(
      await own.sleepsThrough(() => run(...all, "--pass", "wrong", "GET", "word").catch(String)),
    ).toContain("NOAUTH");
  });

  test("goes on after a sleep at a terminal", async () => {
    const terminal = new TerminalProgram(command, env);
    try {
      terminal.type("SET typed moi");
      await terminal.shows("OK");
      await own.sleep();
      terminal.type("GET typed");
      await terminal.shows('"moi"');
    } finally {
      await terminal.close();
    }
  });
});

/** The argument of `createClient`. */
function userOf({ host, port, ...user }: Login) {
  return { ...user, socket: { host, port, reconnectStrategy: false as const } };
}
