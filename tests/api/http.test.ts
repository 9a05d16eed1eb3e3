// The HTTP shell: bodies, methods, paths, headers, limits, and requests of a hostile client.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import pino from "pino";
import { RateLimiter } from "../../src/api/http/rate-limit.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** Posts bytes unchanged. */
async function post(body: Bun.BodyInit, contentType?: string) {
  const headers = new Headers({ Authorization: `Bearer ${api.token}` });
  if (contentType !== undefined) headers.set("Content-Type", contentType);
  const response = await fetch(`${api.origin}/api/caches`, { method: "POST", body, headers });
  expect(response.headers.get("content-type")).toMatch(/json$/);
  const document = (await response.json()) as { message: string };
  return { status: response.status, message: document.message };
}

/** Sends lines unchanged, which `fetch` does not, and returns the status line. */
async function sendRaw(...lines: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(api.origin).port), "127.0.0.1", () => {
    socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  });
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("close", () => resolve(text.split("\r\n")[0] ?? ""));
  socket.on("error", reject);
  return await promise;
}

describe("a body", () => {
  const json = JSON.stringify(validCache);
  const bytes = new TextEncoder().encode(json);

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/vnd.api+json",
    "APPLICATION/JSON",
  ])("%s is taken", async (contentType) => expect((await post(json, contentType)).status).toBe(201));

  test("without Content-Type is read as JSON", async () => {
    expect((await post(bytes)).status).toBe(201);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "garbage"])(
    "%s is 415",
    async (contentType) => {
      const { status, message } = await post(json, contentType);
      expect(status).toBe(415);
      expect(message).toContain("application/json");
    },
  );

  test.each(["{", "{'a':1}", "nul", '{"a":1}}', "\0", "[1,]"])("%p is 400", async (body) => {
    expect((await post(body, "application/json")).status).toBe(400);
  });

  test("of invalid UTF-8 is 400", async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]), "application/json")).status).toBe(400);
  });

  test("is not read of a request that is one too many under way for its organization", async () => {
    const body = new ReadableStream({ pull: () => new Promise(() => undefined) });
    const headers = { Authorization: `Bearer ${api.token}`, Host: "localhost" };
    const request = new Request(`${api.origin}/api/caches`, { method: "POST", body, headers });
    const owners: string[] = [];
    const answer = await api.app.fetch(request, { prove: (owner) => owners.push(owner) === 0 });
    const said = [answer.status, answer.headers.get("retry-after"), answer.headers.get("connection")];
    expect(said).toEqual([429, "1", "close"]);
    expect(owners).toEqual([expect.stringMatching(/^org-/)]);
  });

  test("of more than a mebibyte is 413, with or without Content-Length", async () => {
    const large = `{"name":"${"a".repeat(1024 ** 2)}"}`;
    expect((await post(large, "application/json")).status).toBe(413);
    const stream = new Response(large).body;
    if (stream === null) throw new Error("a response has a body");
    expect((await post(stream, "application/json")).status).toBe(413);
  });

  test.each(["Content-Length: 1000", "Transfer-Encoding: chunked"])(
    "that its client breaks off, with %s, is the client's fault and no error in the log",
    async (header) => {
      const lines: { msg: string; level: number; status?: number }[] = [];
      const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
      const own = await startApi({ log });
      try {
        const socket = connect(Number(new URL(own.origin).port), "127.0.0.1");
        const head = `POST /api/caches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${own.token}\r\n`;
        socket.write(`${head}${header}\r\n\r\n1\r\n{`);
        await until("the token was used", async () => {
          const [row] = await own.db`select from tokens where last_used_at is not null`;
          return row !== undefined;
        });
        socket.resetAndDestroy();
        await until("the request has ended", () => lines.length > 0);
        expect(lines).toMatchObject([{ msg: "request", status: 400 }]);
      } finally {
        await own.stop();
      }
    },
  );

  test("of deeply nested JSON is refused, also in a member that nobody knows", async () => {
    const depth = 100_000;
    const nested = "[".repeat(depth) + "]".repeat(depth);
    expect((await post(nested, "application/json")).status).toBe(422);
    const unknown = `${json.slice(0, -1)},"unknown":${nested}}`;
    expect((await post(unknown, "application/json")).status).toBe(422);
    const name = `${json.slice(0, -1)},"name":${nested}}`;
    expect((await post(name, "application/json")).status).toBe(422);
  });
});

describe("an address", () => {
  test.each(["/api/nothing", "/nothing", "/api", "/api/caches/", "/api/caches/x/y", "/docs/../x"])(
    "%s is 404",
    async (path) => {
      const response = await api.request(path);
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(Object.keys((await response.json()) as object)).toEqual(["message"]);
    },
  );

  test.each([
    ["/api/caches", "PUT", "POST, GET, HEAD"],
    ["/api/caches", "OPTIONS", "POST, GET, HEAD"],
    ["/api/caches/types", "DELETE", "GET, HEAD"],
    ["/api/caches/cache-1", "POST", "GET, HEAD, PATCH, DELETE"],
  ])("%s does not know %s", async (path, method, allow) => {
    const response = await api.request(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  test("answers HEAD as GET, without a body", async () => {
    const response = await api.request("/api/caches", { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });

  const garbage = [
    "%",
    "%ff",
    "%00",
    "%2e%2e",
    "%c0%af",
    "cache-%00",
    "ü",
    "a".repeat(5000),
    "[object Object]",
    "'--",
  ];
  test.each(garbage)("with an id like %p is 404", async (id) => {
    expect((await api.request(`/api/caches/${id}`)).status).toBe(404);
  });

  test.each([
    "?%",
    "?%ff=%00",
    "?page=%00",
    "?wait=%00",
    "?filter[type]=%ff",
    "?include=%00",
    "?__proto__=1",
  ])("a query like %p is no failure", async (query) => {
    expect((await api.request(`/api/caches${query}`)).status).toBeOneOf([200, 400, 422]);
  });
});

describe("a malformed request causes no failure of the server", () => {
  const close = "Connection: close";
  test.each([
    [["GET /api/caches/\0 HTTP/1.1", "Host: localhost", close]],
    [["GET /%zz HTTP/1.1", "Host: localhost", close]],
    [["GET /api/caches HTTP/1.1", "Host: a b", close]],
    [["GET /api/caches HTTP/1.1", "Host: [", close]],
    [["GET http://other/api/caches HTTP/1.1", "Host: localhost", close]],
    [["GET /api/caches HTTP/1.1", "Host: localhost", `Authorization: Bearer ${"x".repeat(12_000)}`, close]],
    [["GET /api/caches HTTP/1.1", "Host: localhost", `X-Long: ${"x".repeat(40_000)}`, close]],
    [["NONSENSE /api/caches HTTP/1.1", "Host: localhost", close]],
  ])("%p", async (lines) => {
    // The HTTP parser itself answers 505 to a request line that it cannot read.
    expect(await sendRaw(...lines)).not.toMatch(/^HTTP\/1.1 5(?!05)/);
  });
});

describe("the request id", () => {
  test("of the client is returned in the answer", async () => {
    const response = await api.request("/api/nothing", { headers: { "X-Request-Id": "deploy-7.a_B" } });
    expect(response.headers.get("x-request-id")).toBe("deploy-7.a_B");
  });

  test.each(["", "a b", "x".repeat(129), "a;b", "<b>"])("%p is replaced", async (id) => {
    const response = await api.request("/healthz", { headers: { "X-Request-Id": id } });
    expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{36}$/);
  });
});

describe("the host name", () => {
  test.each([
    "localhost",
    "localhost:80",
    "LOCALHOST.",
    "127.0.0.1:1",
    "[::1]:7458",
    "10.1.2.3",
    "cloud.example:443",
  ])("%s is served", async (host) => {
    expect((await fetch(`${api.origin}/healthz`, { headers: { Host: host } })).status).toBe(200);
  });

  test.each(["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "cloud.example.evil"])(
    "%s is not",
    async (host) => {
      const response = await fetch(`${api.origin}/api/caches`, { headers: { Host: host } });
      expect(response.status).toBe(421);
      expect(Object.keys((await response.json()) as object)).toEqual(["message"]);
    },
  );
});

describe("the rate limit", () => {
  test("counts by token, reports the remaining requests, and starts again after a minute", async () => {
    let nowMs = 500;
    const clocks = { wall: () => 1_000_000_000_000 + nowMs, monotonic: () => nowMs };
    const limited = await startApi({ rateLimitPerMinute: 2, clocks });
    const other = await limited.newToken(["caches:read"]);
    const answers = [];
    for (let times = 0; times < 3; times++) answers.push(await limited.request("/api/caches"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(["1", "0", "0"]);
    expect(answers[0]?.headers.get("x-ratelimit-limit")).toBe("2");
    expect(answers[0]?.headers.get("x-ratelimit-reset")).toBe("1000000061");
    expect(answers[0]?.headers.get("ratelimit-policy")).toBe('"token";q=2;w=60');
    expect(answers[0]?.headers.get("ratelimit")).toBe('"token";r=1;t=60');
    expect(answers[2]?.headers.get("retry-after")).toBe("60");
    expect(answers[2]?.headers.get("content-type")).toBe("application/json");
    expect((await limited.request("/api/caches", { token: other })).status).toBe(200);
    expect((await limited.request("/api/caches", { token: "unknown" })).headers.has("ratelimit")).toBe(false);
    nowMs += 60_000;
    expect((await limited.request("/api/caches")).status).toBe(200);
    await limited.stop();
  });

  test("is over after a minute, also when the clock of the machine is set back", () => {
    let [wallMs, monotonicMs] = [1_000_000_000_000, 0];
    const limiter = new RateLimiter(1, { wall: () => wallMs, monotonic: () => monotonicMs });
    limiter.take("token");
    wallMs -= 3_600_000;
    const { isExceeded, resetSeconds, headers } = limiter.take("token");
    expect([isExceeded, resetSeconds, headers["X-RateLimit-Reset"]]).toEqual([true, 60, "999996460"]);
    monotonicMs += 60_000;
    expect(limiter.take("token").isExceeded).toBe(false);
  });

  test("of 0 is no limit", () => {
    const limiter = new RateLimiter(0);
    for (let times = 0; times < 10; times++)
      expect(limiter.take("token")).toMatchObject({ isExceeded: false });
  });
});

describe("probes and metrics", () => {
  test("readiness names the failed check", async () => {
    const sick = await startApi({
      readiness: {
        host: () => {
          throw new Error("private detail");
        },
      },
    });
    expect((await sick.request("/healthz")).status).toBe(200);
    const response = await sick.request("/readyz");
    expect(response.status).toBe(503);
    const document = await response.json();
    expect(document).toEqual({ status: "not ready", checks: { store: "ok", host: "failed" } });
    await sick.stop();
  });

  test("metrics have patterns of paths, never paths, and need a token on a public address", async () => {
    await api.request("/api/caches/cache-secret-path");
    const open = await (await fetch(`${api.origin}/metrics`)).text();
    expect(open).toContain('route="/caches/:id"');
    expect(open).not.toContain("secret-path");
    const guarded = await startApi({ isPublic: true });
    expect((await guarded.request("/metrics", { token: null })).status).toBe(401);
    const reader = await guarded.newToken(["caches:read"]);
    expect((await guarded.request("/metrics", { token: reader })).status).toBe(403);
    const scraper = await guarded.newToken(["metrics:read"]);
    expect((await guarded.request("/metrics", { token: scraper })).status).toBe(200);
    await guarded.stop();
  });
});

test("a store that is away is 503 with Retry-After, and no detail", async () => {
  const broken = await startApi();
  await broken.db.close();
  const response = await broken.request("/api/caches");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("2");
  expect(Object.keys((await response.json()) as object)).toEqual(["message"]);
  await broken.stop();
});

test("every answer has the security headers", async () => {
  for (const path of ["/", "/docs", "/api/caches", "/api/nothing", "/healthz", "/openapi.json"]) {
    const { headers } = await api.request(path, { token: null });
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});
