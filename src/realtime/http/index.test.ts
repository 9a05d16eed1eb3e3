// Tests of everything around the endpoints: paths, methods, other origins, faults, and nonsense.
import { expect, test } from "bun:test";
import { handleHttp } from "./index.ts";
import { APP_ID, call, NOW_SECONDS, send, signedQuery, TestApplication } from "./test-application.ts";

test("other paths are not found", async () => {
  const paths = [
    "/",
    "",
    "/apps",
    "/apps/",
    "/apps/3",
    "/apps/3/",
    "/apps//events",
    "/apps/3/events/",
    "/events",
  ];
  const deeper = [
    "/channels/",
    "/channels//users",
    "/channels/a/b",
    "/channels/a/users/b",
    "/users/a",
    "/users/a/users",
  ];
  for (const path of [
    ...paths,
    ...deeper.map((rest) => `/apps/3${rest}`),
    "//apps/3/events",
    "/APPS/3/events",
  ]) {
    const response = await send(new TestApplication(), "POST", path);
    expect([path, response.status, await response.text()]).toEqual([path, 404, "404 NOT FOUND\n"]);
  }
});

test("an application that does not exist is not found", async () => {
  const response = await send(new TestApplication(), "GET", "/apps/4/channels");
  expect([response.status, await response.text()]).toEqual([404, 'There is no app with the id "4"\n']);
});

test("a wrong method is refused with the right method", async () => {
  const right: [path: string, method: string][] = [
    ["/events", "POST"],
    ["/batch_events", "POST"],
    ["/users/1/terminate_connections", "POST"],
    ["/channels", "GET"],
    ["/channels/a", "GET"],
    ["/channels/presence-a/users", "GET"],
  ];
  for (const [path, method] of right) {
    for (const wrong of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].filter(
      (other) => other !== method,
    )) {
      const response = await send(new TestApplication(), wrong, `/apps/3${path}`);
      expect([response.status, response.headers.get("allow")]).toEqual([405, `${method}, OPTIONS`]);
    }
  }
});

test("pages of other origins may send requests and read answers", async () => {
  const application = new TestApplication();
  const preflight = await send(application, "OPTIONS", "/apps/3/events");
  expect([preflight.status, await preflight.text()]).toEqual([204, ""]);
  expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, OPTIONS");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("*");
  const path = `/apps/${APP_ID}/channels`;
  const good = await send(application, "GET", `${path}?${signedQuery("GET", path, {})}`);
  const bad = await send(application, "GET", path);
  for (const response of [preflight, good, bad])
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(good.headers.get("content-type")).toBe("application/json");
  expect(bad.headers.get("content-type")).toBe("text/plain; charset=utf-8");
});

test("empty answers are independent of each other", async () => {
  const application = new TestApplication();
  const body = { name: "e", data: "", channel: "a" };
  const answers = await Promise.all([1, 2, 3].map(() => call(application, "POST", "/events", { body })));
  expect(answers).toEqual([1, 2, 3].map(() => [200, "{}"]));
});

test("a fault of the server is answered without its cause", async () => {
  const application = new TestApplication();
  application.publish = () => {
    throw new Error("a secret");
  };
  const sentence = "The request could not be handled because of an error in the server.\n";
  const event = { name: "e", data: "", channel: "a" };
  expect(await call(application, "POST", "/events", { body: event })).toEqual([500, sentence]);
  expect(await call(application, "POST", "/batch_events", { body: { batch: [event] } })).toEqual([
    500,
    sentence,
  ]);
  application.channels = () => {
    throw new Error("a secret");
  };
  expect(await call(application, "GET", "/channels")).toEqual([500, sentence]);
  expect(application.faults).toEqual(Array.from({ length: 3 }, () => new Error("a secret")));
});

test("a fault after a pause between bursts is answered as well", async () => {
  const application = new TestApplication();
  for (const name of ["a", "b"]) application.occupy(name, { connections: 2_000_000 });
  application.publish = (channel) => {
    if (channel === "b") throw new Error("a secret");
  };
  const body = { name: "e", data: "d", channels: ["a", "b"] };
  expect((await call(application, "POST", "/events", { body }))[0]).toBe(500);
  expect(application.faults).toEqual([new Error("a secret")]);
});

test("a body that does not arrive is refused", async () => {
  const path = "/apps/3/events";
  const faults: unknown[] = [];
  const request = new Request(`http://realtime.test${path}?${signedQuery("POST", path, {}, "{}")}`, {
    method: "POST",
    body: new ReadableStream({ start: (controller) => controller.error(new Error("gone")) }),
  });
  const report = (fault: unknown) => faults.push(fault);
  const response = await handleHttp(request, new TestApplication(), report, NOW_SECONDS * 1000);
  expect([response.status, await response.text()]).toEqual([400, "The body did not arrive\n"]);
  expect(faults).toEqual([]);
});

/** Pseudo-random numbers below 1, the same in each run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  [...'/?&=%+#\\{}[]":,. aé\u2028\ud800\u0000', "%2F", "%ff", "%00", "%F0%9F%98%80"],
  [
    "/apps/3",
    "/events",
    "/batch_events",
    "/channels",
    "/users",
    "/terminate_connections",
    "__proto__",
    "constructor",
  ],
  ["presence-", "private-encrypted-", "cache-", "#server-to-user-", "info", "user_count", "cache", "1.2"],
  [
    '{"batch":[',
    '{"name":"e","data":"d","channel":"c"}',
    '"channels":["a"]',
    "null",
    "1e999",
    "-0",
    "[[[[",
    "\\u0000",
  ],
  ["auth_key=", "auth_timestamp=1", "auth_signature", "body_md5", "filter_by_prefix"],
].flat();

/** A request with any method and URL, as a socket may deliver it. */
function rawRequest(method: string, url: string, body: string): Request {
  return { method, url, text: () => Promise.resolve(body) } as unknown as Request;
}

test("nonsense is refused without an error of the server, signed or not", async () => {
  const random = randomNumbers(20_121_116);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const text = (maxPieces: number) =>
    Array.from({ length: Math.floor(random() * maxPieces) }, () => pick(PIECES)).join("");
  const application = new TestApplication();
  for (const name of ["a", "presence-a", "__proto__"]) application.occupy(name);
  const seen = new Set<number>();

  for (let round = 0; round < 20_000; round++) {
    const method = pick(["GET", "POST", "POST", "GET", "OPTIONS", "HEAD", text(3)]);
    const path =
      random() < 0.7 ? `/apps/3${pick(["/events", "/batch_events", "/channels"])}${text(2)}` : text(8);
    const body = random() < 0.2 ? "" : text(10);
    const query =
      random() < 0.7
        ? signedQuery(method, path, { [pick(["info", "filter_by_prefix", "x"])]: text(4) }, body)
        : text(8);
    const prefix = pick(["http://realtime.test", "http://realtime.test", "", "x"]);
    const response = await handleHttp(
      rawRequest(method, `${prefix}${path}?${query}`, body),
      application,
      (fault) => application.faults.push(fault),
      NOW_SECONDS * 1000,
    );
    if (response.status >= 500)
      throw new Error(`${method} ${path} ${query} ${body}`, { cause: application.faults[0] });
    seen.add(response.status);
  }
  expect([...seen].sort()).toEqual([200, 204, 400, 401, 404, 405]);
});

test("nonsense in the fields of events is refused without an error of the server", async () => {
  const random = randomNumbers(42);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const values = [
    undefined,
    null,
    0,
    -1,
    1.5,
    true,
    "",
    "a",
    "e",
    "1.2",
    "presence-a",
    "user_count",
    [],
    ["a"],
    ["a", "b"],
    {},
  ];
  const rare = [
    [null],
    [["a"]],
    { length: 3 },
    "a".repeat(300),
    "\ud800",
    { __proto__: null },
    "#server-to-user-1",
  ];
  const event = () =>
    Object.fromEntries(
      ["name", "data", "channel", "channels", "socket_id", "info"].map((name) => [
        name,
        pick(random() < 0.2 ? rare : values),
      ]),
    );
  const application = new TestApplication();
  const seen = new Set<number>();
  for (let round = 0; round < 5000; round++) {
    const [status] = await call(application, "POST", "/events", { body: event() });
    const batch = Array.from({ length: Math.floor(random() * 3) }, event);
    const [batchStatus] = await call(application, "POST", "/batch_events", { body: { batch } });
    seen.add(status).add(batchStatus);
  }
  expect([...seen].sort()).toEqual([200, 400]);
});
