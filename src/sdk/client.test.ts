// The client against a server that speaks the documented shapes: its requests, its repetitions, its errors.
import { afterEach, expect, test } from "bun:test";
import { PilviClient, PilviError, PilviUnreachable } from "./index.ts";

const pauses: { ms: number; reason: string }[] = [];
const requests: { method: string; url: URL; headers: Headers }[] = [];
const servers: { stop(force: boolean): Promise<void> }[] = [];

afterEach(async () => {
  pauses.length = 0;
  requests.length = 0;
  for (const server of servers.splice(0)) await server.stop(true);
});

/** A client of a server that gives these answers, one after the other. */
function clientOf(...answers: (() => Response)[]): PilviClient {
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const { method, url, headers } = request;
      requests.push({ method, url: new URL(url), headers: new Headers(headers) });
      return answers[requests.length - 1]?.() ?? new Response("unexpected request", { status: 500 });
    },
  });
  servers.push(server);
  return clientAt(`http://127.0.0.1:${server.port}`);
}

function clientAt(url: string, fetchOnce?: (url: string, init: RequestInit) => Promise<Response>) {
  return new PilviClient({
    url,
    token: "secret-token",
    pause: async (ms, reason) => void pauses.push({ ms, reason }),
    ...(fetchOnce && { fetch: fetchOnce }),
  });
}

function json(status: number, document: unknown, headers: Record<string, string> = {}): () => Response {
  return () => Response.json(document, { status, headers });
}

const cache = { id: "cache-1", type: "caches", attributes: { name: "sessions" } };
const body = {
  name: "sessions",
  type: "platform_valkey",
  region: "us-east-1",
  size: "valkey-flex-250mb",
} as const;

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a create carries the token, the body and an Idempotency-Key of its own", async () => {
  const client = clientOf(json(201, { data: cache }), json(201, { data: cache }));
  expect((await client.caches.create(body)).data.id).toBe("cache-1");
  await client.caches.create(body, { idempotencyKey: "mine" });
  const [first, second] = requests;
  expect(first?.method).toBe("POST");
  expect(first?.url.pathname).toBe("/api/caches");
  expect(first?.headers.get("authorization")).toBe("Bearer secret-token");
  expect(first?.headers.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
  expect(second?.headers.get("idempotency-key")).toBe("mine");
});

test("a create is repeated with the same key after a 503", async () => {
  const client = clientOf(
    json(503, { message: "Not ready." }, { "Retry-After": "2" }),
    json(503, { message: "Not ready." }),
    json(201, { data: cache }),
  );
  await client.caches.create(body);
  expect(new Set(requests.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
  expect(pauses).toEqual([
    { ms: 2000, reason: "Pilvi is not ready" },
    { ms: 500, reason: "Pilvi is not ready" },
  ]);
});

test("a request without a key is not repeated after a 503, since Pilvi may have carried it out", async () => {
  const client = clientOf(json(429, { message: "Wait." }), json(503, { message: "Not ready." }));
  const error = await errorOf(client.tokens.create({ name: "ci", abilities: ["*"] }));
  expect(error).toMatchObject({ status: 503 });
  expect(requests).toHaveLength(2);
});

test("a create is repeated with the same key after a lost connection", async () => {
  const keys: (string | null)[] = [];
  const client = clientAt("http://127.0.0.1:7458", async (_url, { headers }) => {
    keys.push(new Headers(headers).get("idempotency-key"));
    if (keys.length === 1) throw Object.assign(new TypeError("closed"), { code: "ECONNRESET" });
    if (keys.length === 2) throw Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" });
    return Response.json({ data: cache }, { status: 201 });
  });
  await client.caches.create(body);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test("the failures of Node's fetch are known by their causes", async () => {
  const causes = ["UND_ERR_SOCKET", "ECONNRESET", "ENOTFOUND"].map((code) =>
    Object.assign(new Error(`it failed with ${code}`), { code }),
  );
  let attempts = 0;
  const client = clientAt("http://elsewhere.example", async () => {
    throw new TypeError("fetch failed", { cause: causes[attempts++] });
  });
  expect(await errorOf(client.caches.types())).toMatchObject({
    message: "Pilvi does not answer at http://elsewhere.example: it failed with ENOTFOUND.",
  });
  expect(pauses.map(({ reason }) => reason)).toEqual(["the connection was lost", "the connection was lost"]);
});

test("a reason that is a question has no full stop after it", async () => {
  const client = clientAt("https://elsewhere.example", async () => {
    throw Object.assign(new Error("Does it speak TLS?"), { code: "EPROTO" });
  });
  expect(await errorOf(client.caches.types())).toMatchObject({
    message: "Pilvi does not answer at https://elsewhere.example: Does it speak TLS?",
  });
});

test("a connection that is lost every time ends in an error", async () => {
  let attempts = 0;
  const client = clientAt("http://127.0.0.1:7458", async () => {
    attempts++;
    throw Object.assign(new TypeError("closed"), { code: "ECONNRESET" });
  });
  expect(await errorOf(client.caches.types())).toBeInstanceOf(PilviUnreachable);
  expect(attempts).toBe(5);
});

test("a 429 is repeated after the time of its Retry-After, unless that is too long", async () => {
  const patient = clientOf(
    json(429, { message: "Too many requests." }, { "Retry-After": "17" }),
    json(200, { data: [] }),
    json(429, { message: "Too many requests." }, { "Retry-After": "3600" }),
  );
  await patient.caches.types();
  expect(pauses).toEqual([{ ms: 17_000, reason: "too many requests" }]);
  expect(await errorOf(patient.caches.types())).toMatchObject({
    status: 429,
    message: "Too many requests.",
  });
});

test("a sign-in is not repeated after a 429, which the person has to know of", async () => {
  const client = clientOf(json(429, { message: "Too many attempts." }, { "Retry-After": "2" }));
  const error = await errorOf(client.sessions.create({ email: "ada@example.com", password: "wrong" }));
  expect([error, pauses]).toMatchObject([{ status: 429, message: "Too many attempts." }, []]);
});

test("a 422 carries every field and the request id, and is not repeated", async () => {
  const errors = { size: ["The size does not belong to the type."] };
  const client = clientOf(
    json(422, { message: "This field is not valid: size.", errors }, { "X-Request-Id": "r1" }),
  );
  const error = await errorOf(client.caches.create(body));
  expect(error).toBeInstanceOf(PilviError);
  expect(error).toMatchObject({
    status: 422,
    message: "This field is not valid: size.",
    errors,
    requestId: "r1",
  });
  expect(requests).toHaveLength(1);
});

test("an answer that is not Pilvi's is an error with a clear message", async () => {
  const client = clientOf(
    () => new Response("<html>hello</html>"),
    () => new Response("<html>bad gateway</html>", { status: 502 }),
  );
  expect(await errorOf(client.caches.types())).toMatchObject({
    message: expect.stringContaining("is not Pilvi"),
  });
  expect(await errorOf(client.caches.types())).toMatchObject({
    status: 502,
    message: expect.stringMatching(/^The server at http:.* answered with status 502 and no message\.$/),
  });
});

test("a refused connection is reported at once, with what to do about it", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const url = `http://127.0.0.1:${server.port}`;
  await server.stop(true);
  const error = await errorOf(clientAt(`${url}/`).caches.types());
  expect(error).toBeInstanceOf(PilviUnreachable);
  expect(error).toMatchObject({ message: `Pilvi does not answer at ${url}. Start it with: npm start` });
  expect(pauses).toEqual([]);
});

test("all pages are followed, on the configured server and with the link's own query", async () => {
  const next = "http://elsewhere.example/api/caches?filter%5Btype%5D=hosted_redis&page=2";
  const client = clientOf(
    json(200, { data: [{ id: "a" }, { id: "b" }], links: { next } }),
    json(200, { data: [{ id: "c" }], links: {} }),
  );
  const all = await Array.fromAsync(client.caches.all({ filter: { type: "hosted_redis" } }));
  expect(all.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  const queries = requests.map(({ url }) => Object.fromEntries(url.searchParams));
  expect(queries).toEqual([
    { "filter[type]": "hosted_redis" },
    { "filter[type]": "hosted_redis", page: "2" },
  ]);
});

test("a read can be held and be given up", async () => {
  const client = clientOf(json(200, { data: cache }));
  await client.caches.get("cache-1", { wait: "available" });
  expect(requests[0]?.url.search).toBe("?wait=available");
  const reason = new Error("no longer wanted");
  expect(await errorOf(client.caches.get("cache-1", { signal: AbortSignal.abort(reason) }))).toBe(reason);
});

test("a delete whose first answer was lost is done when the cache is gone", async () => {
  const gone = json(404, { message: "There is no such cache." });
  const client = clientOf(json(503, { message: "Not ready." }), gone, gone);
  await client.caches.delete("cache-1");
  expect(await errorOf(client.caches.delete("cache-1"))).toMatchObject({ status: 404 });
});

test("databases in a cluster have paths below the cluster's, and can be read along with it", async () => {
  const schema = { id: "schema-1", type: "databaseSchemas", attributes: { name: "reports" } };
  const client = clientOf(
    json(201, { data: schema }),
    json(200, { data: { id: "db-1" }, included: [schema] }),
    () => new Response(null, { status: 204 }),
  );
  const made = await client.databases.schemas("db-1").create({ name: "reports" });
  expect(made.data.attributes.name).toBe("reports");
  const cluster = await client.databases.get("db-1", { include: ["databases"] });
  expect(cluster.included?.[0]?.attributes.name).toBe("reports");
  await client.databases.schemas("db-1").delete("schema-1");
  expect(requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    "POST /api/databases/clusters/db-1/databases",
    "GET /api/databases/clusters/db-1?include=databases",
    "DELETE /api/databases/clusters/db-1/databases/schema-1",
  ]);
  expect(requests[0]?.headers.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
});

test("applications are listed and made below their cluster, and have addresses of their own", async () => {
  const application = { id: "wsa-1", type: "websocketApplications", attributes: { name: "website" } };
  const single = json(200, { data: application });
  const client = clientOf(json(201, { data: application }), single, single, single, single, single);
  const applications = client.websockets.applications("ws-1");
  await applications.create({ name: "website" });
  await applications.get("wsa-1", { include: ["server"] });
  await applications.update("wsa-1", { client_events_enabled: false });
  await applications.rotateSecret("wsa-1", { grace_seconds: 0 });
  await applications.delete("wsa-1");
  await client.websockets.update("ws-1", { max_connections: 500 });
  expect(requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    "POST /api/websocket-servers/ws-1/applications",
    "GET /api/websocket-applications/wsa-1?include=server",
    "PATCH /api/websocket-applications/wsa-1",
    "POST /api/websocket-applications/wsa-1/rotate-secret",
    "DELETE /api/websocket-applications/wsa-1",
    "PATCH /api/websocket-servers/ws-1",
  ]);
  const keys = requests.map(({ headers }) => headers.has("idempotency-key"));
  expect(keys).toEqual([true, false, false, true, false, false]);
});

test("metrics are read of a cluster and of an application", async () => {
  const metrics = { data: {}, meta: { period: "6h", available_periods: [] } };
  const client = clientOf(json(200, metrics), json(200, metrics));
  expect(await client.websockets.metrics("ws-1")).toEqual(metrics as never);
  await client.websockets.applications("ws-1").metrics("wsa-1", "30d");
  expect(requests.map(({ url }) => `${url.pathname}${url.search}`)).toEqual([
    "/api/websocket-servers/ws-1/metrics",
    "/api/websocket-applications/wsa-1/metrics?period=30d",
  ]);
});

test("what works once only is not sent again after a lost connection", async () => {
  const asked: string[] = [];
  const client = clientAt("http://127.0.0.1:7458", async (url) => {
    asked.push(new URL(url).pathname);
    throw Object.assign(new TypeError("closed"), { code: "ECONNRESET" });
  });
  const password = "a long password";
  await errorOf(client.sessions.redeem({ secret: "s", password }));
  await errorOf(client.sessions.create({ email: "ada@example.com", password }));
  await errorOf(client.invitations.accept({ secret: "s" }));
  expect(asked).toEqual(["/api/sign-in-links/redeem", "/api/sessions", "/api/invitations/accept"]);
});
