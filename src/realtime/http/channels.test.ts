// Tests of the questions about channels and users.
import { expect, test } from "bun:test";
import { call, TestApplication } from "./test-application.ts";

function occupied(): TestApplication {
  const application = new TestApplication();
  application.occupy("my-channel", { connections: 3 });
  application.occupy("presence-room", { users: ["1", "two", "1"] });
  application.occupy("cache-news");
  application.occupy("__proto__");
  application.occupy("#server-to-user-1");
  application.cached.set("cache-news", { data: '{"a":1}', ttlSeconds: 537 });
  return application;
}

function list(query: Record<string, string>): Promise<[number, string]> {
  return call(occupied(), "GET", "/channels", { query });
}

function describe(name: string, info = ""): Promise<[number, string]> {
  return call(occupied(), "GET", `/channels/${name}`, { query: { info } });
}

test("all occupied channels are listed, except for those of users", async () => {
  expect(await call(occupied(), "GET", "/channels")).toEqual([
    200,
    '{"channels":{"my-channel":{},"presence-room":{},"cache-news":{},"__proto__":{}}}',
  ]);
  expect(await call(new TestApplication(), "GET", "/channels")).toEqual([200, '{"channels":{}}']);
});

test("channels are filtered by prefix, and listed with the wanted attributes", async () => {
  expect(await list({ filter_by_prefix: "presence-", info: "user_count,subscription_count" })).toEqual([
    200,
    '{"channels":{"presence-room":{"user_count":2,"subscription_count":3}}}',
  ]);
  expect(await list({ filter_by_prefix: "my-", info: "subscription_count" })).toEqual([
    200,
    '{"channels":{"my-channel":{"subscription_count":3}}}',
  ]);
  expect(await list({ filter_by_prefix: "__fish" })).toEqual([200, '{"channels":{}}']);
  expect(await list({ filter_by_prefix: "#server-to-user-" })).toEqual([
    200,
    '{"channels":{"#server-to-user-1":{}}}',
  ]);
});

test("users are counted only when all channels are presence channels", async () => {
  const text =
    "user_count may only be requested for presence channels - please supply filter_by_prefix begining with presence-\n";
  for (const query of [{}, { filter_by_prefix: "private-" }, { filter_by_prefix: "presence" }]) {
    expect(await call(occupied(), "GET", "/channels", { query: { ...query, info: "user_count" } })).toEqual([
      400,
      text,
    ]);
  }
});

test("unknown attributes are refused", async () => {
  const [status, text] = await call(occupied(), "GET", "/channels", { query: { info: "does-not-exist" } });
  expect([status, text]).toEqual([
    400,
    "info should be a comma separated list of attributes (known ones are user_count, subscription_count)\n",
  ]);
  for (const info of ["does-not-exist", "user_count,", ",", "user_count;cache", "toString"]) {
    const answer = await call(occupied(), "GET", "/channels/presence-room", { query: { info } });
    expect(answer[0]).toBe(400);
    expect(answer[1]).toContain("info should be a comma separated list of attributes");
  }
});

test("a channel is described, occupied or not", async () => {
  expect(await describe("my-channel")).toEqual([200, '{"occupied":true}']);
  expect(await describe("other")).toEqual([200, '{"occupied":false}']);
  expect(await describe("my-channel", "subscription_count")).toEqual([
    200,
    '{"occupied":true,"subscription_count":3}',
  ]);
  expect(await describe("presence-room", "subscription_count,user_count")).toEqual([
    200,
    '{"occupied":true,"user_count":2,"subscription_count":3}',
  ]);
  expect(await describe("presence-other", "user_count,subscription_count")).toEqual([
    200,
    '{"occupied":false,"user_count":0,"subscription_count":0}',
  ]);
});

test("the last event of a cache channel is returned", async () => {
  expect(await describe("cache-news", "cache")).toEqual([
    200,
    '{"occupied":true,"cache":{"data":"{\\"a\\":1}","ttl":537}}',
  ]);
  expect(await describe("private-encrypted-cache-a", "cache")).toEqual([
    200,
    '{"occupied":false,"cache":null}',
  ]);
  expect(await describe("my-channel", "cache")).toEqual([
    400,
    "Cannot retrieve the cache unless the channel is a cache channel\n",
  ]);
});

test("only presence channels count and list users", async () => {
  expect(await call(occupied(), "GET", "/channels/my-channel", { query: { info: "user_count" } })).toEqual([
    400,
    "Cannot retrieve the user count unless the channel is a presence channel\n",
  ]);
  expect(await call(occupied(), "GET", "/channels/my-channel/users")).toEqual([
    400,
    "Users can only be retrieved for presence channels\n",
  ]);
  expect(await call(occupied(), "GET", "/channels/presence-room/users")).toEqual([
    200,
    '{"users":[{"id":"1"},{"id":"two"}]}',
  ]);
  expect(await call(occupied(), "GET", "/channels/presence-other/users")).toEqual([200, '{"users":[]}']);
});

test("names in paths are unescaped", async () => {
  expect(await call(occupied(), "GET", "/channels/%6dy-channel")).toEqual([200, '{"occupied":true}']);
  expect(await call(occupied(), "GET", "/channels/%23server-to-user-1")).toEqual([200, '{"occupied":true}']);
  expect(await call(occupied(), "GET", "/channels/a%2Fb")).toEqual([400, 'Invalid channel name: "a/b"\n']);
  expect(await call(occupied(), "GET", "/channels/a%20b/users")).toEqual([
    400,
    'Invalid channel name: "a b"\n',
  ]);
});

test("a user's connections are closed", async () => {
  const application = new TestApplication();
  expect(await call(application, "POST", "/users/1/terminate_connections")).toEqual([200, "{}"]);
  expect(await call(application, "POST", "/users/%C3%BC%2F%2B/terminate_connections", { body: {} })).toEqual([
    200,
    "{}",
  ]);
  expect(application.terminated).toEqual(["1", "ü/+"]);
});

test("requests are counted when they are signed well, whatever the answer", async () => {
  const application = occupied();
  await call(application, "GET", "/channels");
  await call(application, "GET", "/channels/my-channel", { query: { info: "user_count" } });
  expect(application.requests).toBe(2);
  application.secrets = ["another secret"];
  expect((await call(application, "GET", "/channels"))[0]).toBe(401);
  expect(application.requests).toBe(2);
});
