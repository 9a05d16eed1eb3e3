// A WebSocket cluster is available when it takes a signed request of every application.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { createHmac } from "node:crypto";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { ensureLogin } from "./login.ts";

const first = { appId: "10001", key: "one", secret: "s1" };
const second = { appId: "10002", key: "two", secret: "s2" };
let server: Bun.Server<undefined>;
let timeouts: ReturnType<typeof spyOn>;

/**
 * A server that knows some applications, and answers for the others as the protocol demands. It does not list channels,
 * of which there may be very many.
 */
function serve(...known: (typeof first)[]): string {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url);
      const application = known.find(({ appId }) => pathname === `/apps/${appId}/channels/pilvi`);
      if (application === undefined) return new Response("unknown", { status: 404 });
      const { key, secret } = application;
      const signed = `auth_key=${key}&auth_timestamp=${query.get("auth_timestamp")}&auth_version=1.0`;
      const signature = createHmac("sha256", secret).update(`GET\n${pathname}\n${signed}`).digest("hex");
      return new Response("{}", { status: query.get("auth_signature") === signature ? 200 : 401 });
    },
  });
  return `http://127.0.0.1:${server.port}`;
}

beforeEach(() => {
  // Each login is tried once here, and a request may take a busy machine longer than its bound.
  timeouts = spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
});

afterEach(async () => {
  timeouts.mockRestore();
  await server.stop(true);
});

test("a login works when the server takes a signed request of every application", async () => {
  const url = serve(first, second);
  await ensureLogin({ url, applications: [first, second] });
});

test("a login at a cluster without applications needs any answer only", async () => {
  await ensureLogin({ url: serve(), applications: [] });
});

test.each([
  ["an application is missing", [first], "404"],
  ["a secret is another", [first, { ...second, secret: "s3" }], "401"],
])("does not work when %s", async (_what, known, status) => {
  const url = serve(...known);
  await expect(ensureLogin({ url, applications: [first, second] })).rejects.toThrow(
    `A signed request at ${url} did not work: the answer was ${status}.`,
  );
});

test("an answer without an end is not read", async () => {
  let isCancelled = false;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => void (isCancelled = true),
        }),
      ),
  });
  await ensureLogin({ url: `http://127.0.0.1:${server.port}`, applications: [] });
  await until("the server is told", () => isCancelled);
});

test("a login fails when no server listens", async () => {
  const url = serve(first);
  await server.stop(true);
  await expect(ensureLogin({ url, applications: [first] })).rejects.toThrow(
    `A request at ${url} did not work`,
  );
  await expect(ensureLogin({ url, applications: [] })).rejects.toThrow(`A request at ${url} did not work`);
});
