// Tests of publishing: single events, batches, and everything that can be wrong with an event.
import { expect, test } from "bun:test";
import { call, TestApplication } from "./test-application.ts";

const DATA_TOO_LARGE = "The data content of this event exceeds the allowed maximum (10240 bytes)\n";

function publish(application: TestApplication, body: unknown): Promise<[number, string]> {
  return call(application, "POST", "/events", { body });
}

function publishBatch(application: TestApplication, batch: unknown): Promise<[number, string]> {
  return call(application, "POST", "/batch_events", { body: { batch } });
}

test("an event reaches one channel or several, each once", async () => {
  const application = new TestApplication();
  expect(await publish(application, { name: "e", data: "1", channel: "a" })).toEqual([200, "{}"]);
  expect(await publish(application, { name: "e", data: "2", channels: ["a"], socket_id: "12.34" })).toEqual([
    200,
    "{}",
  ]);
  expect(await publish(application, { name: "e", data: "3", channels: ["b", "a", "b"] })).toEqual([
    200,
    "{}",
  ]);
  expect(await publish(application, { name: "e", data: "4", channels: ["#server-to-user-a/b c"] })).toEqual([
    200,
    "{}",
  ]);
  expect(application.published).toEqual([
    ["a", "e", "1", undefined],
    ["a", "e", "2", "12.34"],
    ["b", "e", "3", undefined],
    ["a", "e", "3", undefined],
    ["#server-to-user-a/b c", "e", "4", undefined],
  ]);
});

test("a member that a client leaves out may be null", async () => {
  const application = new TestApplication();
  const body = { name: "e", data: "", channel: "a", channels: null, socket_id: null, info: null };
  expect(await publish(application, body)).toEqual([200, "{}"]);
  expect(application.published).toEqual([["a", "e", "", undefined]]);
});

test("data is passed on unchanged, whatever it holds", async () => {
  const application = new TestApplication();
  const data = '{"ü":"\\u0000 \u2028 \ud83d\ude00","n":1e400,"__proto__":[]}';
  expect(await publish(application, { name: "ä/\n", data, channel: "a" })).toEqual([200, "{}"]);
  expect(application.published).toEqual([["a", "ä/\n", data, undefined]]);
});

test("info returns the counts of each channel, occupied or not", async () => {
  const application = new TestApplication();
  application.occupy("my-channel");
  application.occupy("presence-room", { users: ["1", "2", "1"] });
  application.occupy("__proto__", { connections: 7 });
  const channels = ["my-channel", "presence-room", "presence-empty", "__proto__", "my-channel"];
  const [status, text] = await publish(application, {
    name: "e",
    data: "",
    channels,
    info: "user_count,subscription_count",
  });
  expect(status).toBe(200);
  expect(text).toBe(
    '{"channels":{"my-channel":{"subscription_count":1},' +
      '"presence-room":{"user_count":2,"subscription_count":3},' +
      '"presence-empty":{"user_count":0,"subscription_count":0},' +
      '"__proto__":{"subscription_count":7}}}',
  );
  expect(
    await publish(application, { name: "e", data: "", channel: "my-channel", info: "user_count" }),
  ).toEqual([200, '{"channels":{"my-channel":{}}}']);
});

test("a batch is published in its order", async () => {
  const application = new TestApplication();
  application.occupy("my-channel");
  const batch = [
    { channel: "my-channel", name: "1", data: "a", info: "subscription_count" },
    { channel: "my-channel-2", name: "2", data: "b", socket_id: "1.2" },
    { channel: "presence-my-channel", name: "3", data: "c", info: "user_count, subscription_count" },
  ];
  expect(await publishBatch(application, batch)).toEqual([
    200,
    '{"batch":[{"subscription_count":1},{},{"user_count":0,"subscription_count":0}]}',
  ]);
  expect(application.published.map(([channel, name]) => `${channel} ${name}`)).toEqual([
    "my-channel 1",
    "my-channel-2 2",
    "presence-my-channel 3",
  ]);
});

test("a batch without info is answered with an empty object", async () => {
  const application = new TestApplication();
  const event = { channel: "private-encrypted-a", name: "e", data: "a" };
  expect(
    await publishBatch(
      application,
      Array.from({ length: 10 }, () => event),
    ),
  ).toEqual([200, "{}"]);
  expect(await publishBatch(application, [])).toEqual([200, "{}"]);
  expect(application.published.length).toBe(10);
});

test("a batch with a fault publishes nothing", async () => {
  const application = new TestApplication();
  const good = { channel: "a", name: "e", data: "a" };
  const batches: [batch: unknown, status: number, text: string][] = [
    [Array.from({ length: 11 }, () => good), 400, "Batch too large (11 > 10)\n"],
    [[good, { ...good, channel: undefined, channels: ["a"] }], 400, "Missing required parameter: channel\n"],
    [[good, { ...good, data: "a".repeat(10_241) }], 413, DATA_TOO_LARGE],
    [[good, { ...good, channel: "no/slash" }], 400, 'Invalid channel name: "no/slash"\n'],
    [[good, null], 400, "Each event of the batch must be an object\n"],
    [[good, [good]], 400, "Each event of the batch must be an object\n"],
    ["a", 400, "batch must be a list of events\n"],
    [undefined, 400, "Missing required parameter: batch\n"],
  ];
  for (const [batch, status, text] of batches)
    expect(await publishBatch(application, batch)).toEqual([status, text]);
  expect(application.published).toEqual([]);
});

/** An event for several channels. */
function list(channels: unknown): Record<string, unknown> {
  return { name: "e", data: "d", channels };
}

test("the fault of an event is named", async () => {
  const application = new TestApplication();
  const good = { name: "e", data: "d", channel: "a" };
  const faults: [body: unknown, text: string][] = [
    [{ ...good, name: undefined }, "Missing required parameter: name"],
    [{ ...good, name: "" }, "Missing required parameter: name"],
    [{ ...good, name: 1 }, "name must be a string"],
    [
      { ...good, name: "e".repeat(201) },
      "The name of this event exceeds the allowed maximum (200 characters)",
    ],
    [{ ...good, data: undefined }, "Missing required parameter: data"],
    [{ ...good, data: { a: 1 } }, "data must be a string"],
    [{ ...good, channel: undefined }, "Missing required parameter: channel"],
    [{ ...good, channel: "" }, "Missing required parameter: channel"],
    [{ ...good, channel: ["a"] }, "channel must be a string"],
    [{ ...good, channel: "a b" }, 'Invalid channel name: "a b"'],
    [{ ...good, channel: "a".repeat(201) }, `Invalid channel name: "${"a".repeat(201)}"`],
    [{ ...good, channel: "#server-to-user-" }, 'Invalid channel name: "#server-to-user-"'],
    [{ ...good, channels: ["a"] }, "Either channel or channels must be given, not both"],
    [list([]), "Missing required parameter: channels"],
    [list("a"), "channels must be a list of strings"],
    [list(["a", 1]), "channels must be a list of strings"],
    [list({ length: 1 }), "channels must be a list of strings"],
    [list(Array.from({ length: 101 }, (_, index) => `c${index}`)), "Too many channels (101 > 100)"],
    [
      list(["a", "private-encrypted-b"]),
      "An event for an encrypted channel cannot be sent to other channels too",
    ],
    [{ ...good, socket_id: "12" }, 'Invalid socket_id: "12"'],
    [{ ...good, socket_id: "1.2\n" }, 'Invalid socket_id: "1.2\\n"'],
    [{ ...good, socket_id: 1.2 }, "socket_id must be a string"],
    [
      { ...good, info: "users" },
      "info should be a comma separated list of attributes (known ones are user_count, subscription_count)",
    ],
    [{ ...good, info: ["user_count"] }, "info must be a string"],
    ["{", "The body is not valid JSON"],
    ["", "The body is not valid JSON"],
    ["[]", "The body must be a JSON object"],
    ["null", "The body must be a JSON object"],
    ['"a"', "The body must be a JSON object"],
  ];
  for (const [body, text] of faults) expect(await publish(application, body)).toEqual([400, `${text}\n`]);
  expect(application.published).toEqual([]);
});

test("limits count bytes of data, characters of names, and channels", async () => {
  const application = new TestApplication();
  const event = { name: "e", channel: "a" };
  expect((await publish(application, { ...event, data: "a".repeat(10_240) }))[0]).toBe(200);
  expect((await publish(application, { ...event, data: "ü".repeat(5120) }))[0]).toBe(200);
  expect(await publish(application, { ...event, data: "a".repeat(10_241) })).toEqual([413, DATA_TOO_LARGE]);
  expect(await publish(application, { ...event, data: "ü".repeat(5121) })).toEqual([413, DATA_TOO_LARGE]);
  expect((await publish(application, { data: "", channel: "a".repeat(200), name: "é".repeat(200) }))[0]).toBe(
    200,
  );
  const channels = Array.from({ length: 100 }, (_, index) => `c${index}`);
  expect((await publish(application, { name: "e", data: "", channels }))[0]).toBe(200);
  expect(application.published.length).toBe(103);
});

test("a body larger than any batch is refused before it is read", async () => {
  const [status, text] = await publish(new TestApplication(), { padding: "a".repeat(1024 * 1024) });
  expect([status, text]).toEqual([413, "The body exceeds the allowed maximum (1048576 bytes)\n"]);
});

test("a burst to many subscribers is interrupted, so that sockets can send", async () => {
  const application = new TestApplication();
  const channels = Array.from({ length: 10 }, (_, index) => `c${index}`);
  for (const channel of channels) application.occupy(channel, { connections: 400 });
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const answer = await publish(application, {
    name: "e",
    data: "a".repeat(1500),
    channels,
    info: "subscription_count",
  });
  isCounting = false;
  expect(answer[0]).toBe(200);
  expect(application.published.map(([channel]) => channel)).toEqual(channels);
  expect(turns).toBeGreaterThanOrEqual(4);
});
