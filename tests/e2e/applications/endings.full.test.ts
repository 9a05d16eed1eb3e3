// How the processes of an environment end: with SIGTERM, and with time for what they have under way.
import { RedisClient } from "bun";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

/** Says when it works, when it is asked to end and when it has ended, which it does once its cache has a key. */
const SLOW_ENDER = `
  import { redis } from "bun";
  process.on("SIGTERM", async () => {
    console.log("slow worker ends");
    while ((await redis.get("may-end")) === null) await Bun.sleep(50);
    console.log("slow worker has ended");
    process.exit(0);
  });
  setInterval(() => {}, 1000);
  console.log("slow worker works");
`;

/** Tells its log that it was asked to end, and ends a little later, as after the last of its work. */
const goodEnder = (name: string) => `
  const end = (who) => () => { console.log(who + " ends"); setTimeout(() => { console.log(who + " has ended"); process.exit(0); }, 700); };
  if (process.argv[2] === "work") {
    process.on("SIGTERM", end("${name} worker"));
    setInterval(() => {}, 1000);
    console.log("${name} worker works");
  } else {
    process.on("SIGTERM", end("${name}"));
    Bun.serve({ port: Number(process.env.PORT), hostname: "127.0.0.1", fetch: () => new Response("${name}") });
  }
`;

let pilvi: TestPilvi;
let application: TestApplication;
let cache: RedisClient;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  // With the password of a cache among its variables, as most applications have.
  const { id, attributes } = await pilvi.createCache();
  const { hostname, port, password } = attributes.connection;
  cache = new RedisClient(`redis://:${password}@${hostname}:${port}`);
  const settings = { shutdown_timeout: 10, cache_id: id };
  await pilvi.api("PATCH", `/environments/${application.environmentId}`, settings);
  await application.deploy(files("one"));
});

afterAll(async () => {
  cache.close();
  await pilvi.close();
});

function files(name: string) {
  const procfile = "web: bun server.ts\nworker: bun server.ts work\n";
  return { ...bunServer(name), "server.ts": goodEnder(name), "slow.ts": SLOW_ENDER, Procfile: procfile };
}

async function logged(): Promise<string[]> {
  const path = `/environments/${application.environmentId}/logs?type=application&per_page=300`;
  const { body } = await pilvi.api<{ data: { message: string }[] }>("GET", path);
  return body.data.map(({ message }) => message);
}

async function untilLogged(line: string, times = 1): Promise<void> {
  const found = async () => (await logged()).filter((each) => each === line).length;
  await until(`the log says that ${line}`, async () => (await found()) >= times);
}

test("a former process is asked to end once its time is over, and ends its work", async () => {
  await untilLogged("one worker works");
  await application.deploy(files("two"));
  await untilLogged("one has ended");
  expect(await logged()).toContain("one worker has ended");
  expect(await application.text()).toBe("two");
});

test("a stop has all processes end their work, and the environment starts again at once", async () => {
  await untilLogged("two worker works");
  const path = `/environments/${application.environmentId}`;
  await pilvi.api("POST", `${path}/stop`);
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", `${path}/start`, { redeploy: true });
  expect((await application.ended(body.data.id)).attributes.status).toBe("deployment.succeeded");
  expect(await application.text()).toBe("two");
  await untilLogged("two has ended");
  // The worker of before ends while the same release is deployed anew: another takes its place.
  await untilLogged("two worker works", 2);
  await pilvi.api("POST", `${path}/stop`);
  await untilLogged("two has ended", 2);
  await untilLogged("two worker has ended");
  await until("the edge has noticed", async () => (await application.fetch()).status === 503);
});

test("a release that is deployed again while its workers end gets workers of its own", async () => {
  const three = await application.deploy(files("three"));
  await untilLogged("three worker works");
  for (let times = 0; times < 2; times += 1) {
    const { attributes } = await application.rollBack(three.id);
    expect(attributes.status).toBe("deployment.succeeded");
  }
  await untilLogged("three worker has ended");
  await untilLogged("three worker works", 2);
});

test("a process that ends slowly gets a successor, and no release waits for its end", async () => {
  const path = `/environments/${application.environmentId}`;
  await pilvi.api("PATCH", path, { shutdown_timeout: 120 });
  const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${path}/instances`);
  const order = { type: "custom", processes: 2, command: "exec bun slow.ts" };
  const created = await pilvi.api<{ data: { id: string } }>(
    "POST",
    `/instances/${body.data[0]?.id}/background-processes`,
    order,
  );
  const slow = `/background-processes/${created.body.data.id}`;
  await untilLogged("slow worker works", 2);
  await pilvi.api("PATCH", slow, { processes: 1 });
  await untilLogged("slow worker ends");
  await pilvi.api("PATCH", slow, { processes: 2 });
  await application.deploy(files("five"));
  await application.deploy(files("six"));
  expect(await application.text()).toBe("six");
  expect(await logged()).not.toContain("slow worker has ended");
  await cache.set("may-end", "yes");
  await untilLogged("slow worker has ended", 2);
  await untilLogged("slow worker works", 4);
});

test("a deletion does not wait for processes that end slowly", async () => {
  await cache.del("may-end");
  const ends = (await logged()).filter((line) => line === "slow worker ends").length;
  await pilvi.api("POST", `/environments/${application.environmentId}/stop`);
  await untilLogged("slow worker ends", ends + 2);
  await application.delete();
});
