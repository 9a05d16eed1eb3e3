// The key browser on a real cache: types, pages, hostile sizes and bytes, sleep, and who may what.
import { afterAll, beforeAll, expect, test } from "bun:test";
import Redis from "ioredis";
import { type CacheResource, PilviClient, PilviError } from "../../../src/sdk/index.ts";
import { startPilvi, TOKEN, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";

const START_MS = 240_000;

let pilvi: TestPilvi;
let client: PilviClient;
let cache: CacheResource;
let redis: Redis;
let keys: ReturnType<PilviClient["caches"]["keys"]>;

beforeAll(async () => {
  pilvi = await startPilvi();
  client = new PilviClient({ url: pilvi.url, token: TOKEN });
  cache = await pilvi.createCache({ size: "valkey-flex-1gb", eviction_policy: "noeviction" });
  redis = connect(cache);
  keys = client.caches.keys(cache.id);
}, START_MS);

afterAll(async () => {
  redis.disconnect();
  await pilvi.close();
});

function connect({ attributes: { connection } }: CacheResource): Redis {
  const { hostname, port, username = "", password = "" } = connection;
  return new Redis({ host: hostname, port: port ?? 0, username, password });
}

/** The names of all keys, over all pages. */
async function allNames(filter: Parameters<typeof keys.list>[0] = {}): Promise<string[]> {
  const names = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await keys.list({ ...filter, ...(cursor !== undefined && { cursor }) });
    for (const { key } of page.data) names.add(key.text);
    ({ cursor } = page.meta);
  }
  return [...names].sort();
}

async function refusal(request: Promise<unknown>): Promise<{ status: number; message: string }> {
  const error = await request.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof PilviError) return { status: error.status, message: error.message };
  throw error;
}

test("keys are listed with type, expiry and size, and each type shows its value", async () => {
  await Promise.all([
    redis.set("a/string", "hällo", "PX", 600_000),
    redis.rpush("list", "one", "two"),
    redis.sadd("set", "member"),
    redis.zadd("zset", 1.5, "low", 20, "high"),
    redis.hset("hash", { field: "value" }),
    redis.xadd("stream", "5-1", "name", "Ada"),
  ]);
  const { data } = await keys.list();
  const types = Object.fromEntries(data.map(({ key, type }) => [key.text, type]));
  expect(types).toEqual({
    "a/string": "string",
    list: "list",
    set: "set",
    zset: "zset",
    hash: "hash",
    stream: "stream",
  });
  expect(data.every(({ size_bytes: bytes }) => (bytes ?? 0) > 0)).toBe(true);
  const valueOf = async (key: string) =>
    (await keys.get(key)).data.elements.map(({ id, field, value, score }) =>
      [id, field?.text, value.text, score].filter((part) => part !== undefined),
    );
  const string = await keys.get("a/string");
  expect([string.data.length, string.data.elements[0]?.value.text]).toEqual([6, "hällo"]);
  expect(string.data.ttl_ms).toBeGreaterThan(0);
  expect(await valueOf("list")).toEqual([["one"], ["two"]]);
  expect(await valueOf("set")).toEqual([["member"]]);
  expect(await valueOf("zset")).toEqual([
    ["low", "1.5"],
    ["high", "20"],
  ]);
  expect(await valueOf("hash")).toEqual([["field", "value"]]);
  expect(await valueOf("stream")).toEqual([["5-1", "name", "Ada"]]);
});

test("a filter by name and type finds all keys among many, over bounded pages", async () => {
  const pipeline = redis.pipeline();
  for (let index = 0; index < 30_000; index++) pipeline.set(`many:${index}`, "x");
  await pipeline.exec();
  await redis.sadd("many:set", "x");
  expect(await allNames({ match: "many:29[0-9][0-9][0-9]", count: 100 })).toHaveLength(1_000);
  expect(await allNames({ match: "many:*", type: "set" })).toEqual(["many:set"]);
  expect(await allNames({ match: "no such key" })).toEqual([]);
});

test("names and values that are no text stand in base64, and lead to their key", async () => {
  const name = Buffer.from([0, 255, 47, 37, 10]);
  await redis.set(name, Buffer.from([195]));
  expect(await allNames({ match: "*/%\n" })).toEqual([name.toString("base64")]);
  const key = { text: name.toString("base64"), encoding: "base64" } as const;
  expect((await keys.get(key)).data).toMatchObject({
    key: { ...key, bytes: 5, is_cut: false },
    elements: [{ value: { text: "ww==", encoding: "base64" } }],
  });
  await keys.delete(key);
  expect(await redis.exists(name)).toBe(0);
});

test("a long value is read in parts, each of bounded size", async () => {
  await redis.set("text", "ä".repeat(50_000));
  const first = await keys.get("text");
  expect([first.data.length, first.meta.cursor]).toEqual([100_000, "65536"]);
  const second = await keys.get("text", { cursor: first.meta.cursor ?? "" });
  expect(second.meta.cursor).toBeNull();
  const texts = [first, second].map(({ data }) => data.elements[0]?.value.text ?? "");
  expect(texts.join("")).toBe("ä".repeat(50_000));
  await redis.rpush("numbers", ...Array.from({ length: 250 }, (_, index) => String(index)));
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const part = await keys.get("numbers", { count: 100, ...(cursor !== undefined && { cursor }) });
    seen.push(...part.data.elements.map(({ value }) => value.text));
    ({ cursor } = part.meta);
  }
  expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => String(index)));
});

test("values and names of hostile sizes are shown as far as the bounds go", async () => {
  await redis.setrange("huge", 200_000_000, "end");
  await redis.eval("for i = 1, 300000 do redis.call('hset', 'wide', i, i) end", 0);
  await redis.rpush("heavy", Buffer.alloc(20_000_000), Buffer.alloc(20_000_000));
  await redis.set("n".repeat(100_000), "of a long name");
  expect((await keys.get("huge")).data).toMatchObject({ length: 200_000_003, is_too_large: false });
  const wide = await keys.get("wide", { count: 100 });
  expect(wide.data.length).toBe(300_000);
  expect(wide.data.elements.length).toBeLessThan(1_000);
  expect(wide.meta.cursor).not.toBeNull();
  expect((await keys.get("heavy")).data).toMatchObject({ length: 2, is_too_large: true, elements: [] });
  expect(await allNames({ match: "nnn*" })).toEqual(["n".repeat(4096)]);
  await redis.unlink("huge", "wide", "heavy");
});

test("a cache whose engine is held up costs its own requests alone, each for a bounded time", async () => {
  const hog = connect(cache);
  await hog.ping();
  const script = hog.eval("while true do end", 0).catch(() => undefined);
  try {
    const path = `/caches/${cache.id}/keys?count=1`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => pilvi.api("GET", path)));
    // Four wait until the engine refuses or the time is over; the others are refused at once.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 409 || status === 503)).toHaveLength(4);
  } finally {
    await redis.script("KILL");
    await script;
    hog.disconnect();
  }
  expect((await keys.list({ count: 1 })).data.length).toBeGreaterThan(0);
}, 120_000);

test("a key is deleted, and a key that is not there is a 404", async () => {
  await redis.set("gone", "1");
  await keys.delete("gone");
  expect(await redis.exists("gone")).toBe(0);
  const { body } = await pilvi.api<{ data: unknown[] }>("GET", "/activity?filter[action]=delete-key");
  expect(body.data[0]).toMatchObject({ attributes: { action: "delete-key" } });
  expect(JSON.stringify(body.data[0])).not.toContain("gone");
  expect(await refusal(keys.delete("gone"))).toMatchObject({ status: 404 });
  expect(await refusal(keys.get("gone"))).toMatchObject({ status: 404 });
});

test("a sleeping cache is woken only by a request that says so", async () => {
  const sleepy = await pilvi.createCache({ uses_hibernation: true, name: "sleepy" });
  const sleepyKeys = client.caches.keys(sleepy.id);
  const session = connect(sleepy);
  await session.set("kept", "1");
  session.disconnect();
  const sleeper = new Sleeper(pilvi, sleepy);
  await sleeper.sleep();
  await sleeper.sleepsThrough(async () => {
    expect(await refusal(sleepyKeys.list())).toMatchObject({
      status: 409,
      message: expect.stringContaining("wake"),
    });
  });
  expect((await sleepyKeys.list({ wake: true })).data.map(({ key }) => key.text)).toEqual(["kept"]);
});

async function keysWith(ability: string): Promise<typeof keys> {
  const { stdout } = await pilvi.run("token", "create", "--name", ability, "--abilities", ability);
  const token = stdout.split(/\s+/).find((word) => word.startsWith("pilvi_")) ?? "";
  return new PilviClient({ url: pilvi.url, token }).caches.keys(cache.id);
}

test("a viewer sees and deletes nothing, and a writer deletes without seeing", async () => {
  await redis.set("theirs", "1");
  const viewer = await keysWith("caches:read");
  for (const ask of [() => viewer.list(), () => viewer.get("theirs"), () => viewer.delete("theirs")])
    expect(await refusal(ask())).toMatchObject({ status: 403 });
  const writer = await keysWith("caches:write");
  expect(await refusal(writer.get("theirs"))).toMatchObject({ status: 403 });
  await writer.delete("theirs");
  expect(await redis.exists("theirs")).toBe(0);
});

test("the command lists, shows and deletes", async () => {
  await redis.hset("from:cli", { name: "Ada" });
  const listed = await pilvi.run("caches", "keys", cache.id, "--match", "from:*");
  expect(listed.stdout).toMatch(/KEY +TYPE +EXPIRES +BYTES\nfrom:cli +hash +- +\d+\n/);
  expect((await pilvi.run("caches", "keys", cache.id, "from:cli")).stdout).toBe(
    "hash, 1 elements\nname  Ada\n",
  );
  expect((await pilvi.run("caches", "keys", cache.id, "from:cli", "--delete")).code).toBe(2);
  expect((await pilvi.run("caches", "keys", cache.id, "from:cli", "--delete", "--yes")).code).toBe(0);
  expect(await redis.exists("from:cli")).toBe(0);
});
