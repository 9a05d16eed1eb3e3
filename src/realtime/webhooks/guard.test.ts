// Webhooks cannot be made to call addresses that are not public.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { HookServer, startWebhooks, temporaryFolder, until } from "./test-support.ts";

const server = new HookServer();
const folder = temporaryFolder();
let spools = 0;

beforeAll(() => server.listen());
beforeEach(() => server.received.splice(0));
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** @param answers the results of the name's look-ups, one after the other; the last is repeated. */
function start(url: string, allowPrivate: boolean, answers: string[][] = [["127.0.0.1"]]) {
  const looked: string[] = [];
  const made = startWebhooks({
    spoolFile: folder.path(`spool-${(spools += 1)}`),
    allowPrivate,
    resolve: (name) => {
      looked.push(name);
      const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      return Promise.resolve(
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    },
  });
  made.webhooks.configure([{ url, eventTypes: ["cache_miss"], isBatched: false }]);
  made.webhooks.cacheMiss("a");
  made.clock.advance(50);
  return { ...made, counters: made.webhooks.counters, looked };
}

test.each([
  ["http://127.0.0.1:PORT/"],
  ["http://127.1:PORT/"],
  ["http://2130706433:PORT/"],
  ["http://0x7f.0.0.1:PORT/"],
  ["http://0:PORT/"],
  ["http://[::1]:PORT/"],
  ["http://[::ffff:127.0.0.1]:PORT/"],
  ["http://169.254.169.254/latest/meta-data/"],
  ["http://168.63.129.16/machine"],
  ["http://user@hook.example:PORT/"],
  ["http://user:password@hook.example:PORT/"],
  ["ftp://hook.example/"],
  ["file:///etc/passwd"],
  ["not a URL"],
])("%s is refused without a second attempt", async (url) => {
  const { webhooks, clock, counters, looked } = start(url.replace("PORT", new URL(server.url()).port), false);
  await until(() => counters.dropped === 1);
  expect({ failed: counters.failed, timers: clock.pendingMs, looked }).toEqual({
    failed: 0,
    timers: [],
    looked: [],
  });
  await webhooks.close();
  expect(server.received).toEqual([]);
});

test.each([
  [["127.0.0.1"]],
  [["1.1.1.1", "10.0.0.1"]],
  [["10.0.0.1", "1.1.1.1"]],
  [["::1"]],
  [["168.63.129.16"]],
  [["2606:4700:4700::1111", "fd00::1"]],
])("a name is refused when any of its addresses is not public: %j", async (addresses) => {
  const { webhooks, counters } = start(server.url("/", "hook.example"), false, [addresses]);
  await until(() => counters.dropped === 1);
  await webhooks.close();
  expect(counters.failed).toBe(0);
  expect(server.received).toEqual([]);
});

test("a connection goes to the checked address, with the name in the header", async () => {
  const { webhooks, counters, looked } = start(server.url("/", "hook.example"), true, [
    ["127.0.0.1"],
    ["192.0.2.1"],
  ]);
  await until(() => counters.delivered === 1);
  expect(looked).toEqual(["hook.example"]);
  expect(server.received[0]?.headers.host).toBe(new URL(server.url("/", "hook.example")).host);
  await webhooks.close();
});

test("a name without an address is tried again", async () => {
  const { webhooks, clock, counters } = start(server.url("/", "hook.example"), true, [[], ["127.0.0.1"]]);
  await until(() => counters.failed === 1 && clock.pendingMs.length > 0);
  clock.advance(clock.pendingMs[0] ?? 0);
  await until(() => counters.delivered === 1);
  await webhooks.close();
});

test("user names in URLs and other schemes are refused even where private addresses are allowed", async () => {
  for (const url of [server.url("/", "user@hook.example"), "gopher://hook.example/"]) {
    const { webhooks, counters } = start(url, true);
    await until(() => counters.dropped === 1);
    await webhooks.close();
  }
  expect(server.received).toEqual([]);
});

test("a certificate that is not trusted is a failure, and nothing is sent", async () => {
  const [key, cert] = [folder.path("key.pem"), folder.path("cert.pem")];
  const made = Bun.spawnSync(
    [
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=hook.example",
    ].concat(["-addext", "subjectAltName=DNS:hook.example", "-keyout", key, "-out", cert]),
  );
  expect(made.exitCode).toBe(0);
  let requests = 0;
  const secure = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, () => (requests += 1));
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const { port } = secure.address() as AddressInfo;
  const { webhooks, counters } = start(`https://hook.example:${port}/`, true);
  await until(() => counters.failed === 1);
  await webhooks.close();
  expect(requests).toBe(0);
  await new Promise((resolve) => secure.close(resolve));
});
