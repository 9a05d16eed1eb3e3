// Probes through a real edge: the host learns which instance answers, and nobody else does.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { PORT_HEADER, PROBE_HEADER } from "../../engines/edge.ts";
import { probeSecret } from "../../engines/haproxy/config.ts";
import type { EdgeAnswer } from "../../contracts/edge-probe.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
});

afterEach(async () => await lone.close());

async function answerOf(name: string, path = "/"): Promise<EdgeAnswer> {
  return await lone.edge.probe({ name, path, timeoutSeconds: 10 });
}

test("a probe says which instance answers a name, also after the route has moved", async () => {
  const old = lone.serve("old", () => new Response("old"));
  const other = lone.serve(
    "new",
    (request) => new Response(null, { status: request.url.endsWith("?x") ? 418 : 302 }),
  );
  await lone.route("env", ["a.localhost"], "old");
  expect(await answerOf("a.localhost")).toEqual({ status: 200, port: old.port });
  await lone.route("env", ["a.localhost"], "new");
  expect(await answerOf("a.localhost")).toEqual({ status: 302, port: other.port });
  expect(await answerOf("a.localhost", "/path?x")).toEqual({ status: 418, port: other.port });
  expect(await answerOf("b.localhost")).toEqual({ status: 404, port: null });
});

test("a probe waits until an edge that has just started has the routes that came meanwhile", async () => {
  const { port } = lone.serve("late", () => new Response("late"));
  await lone.killEngine();
  await lone.startEngine(async () => await lone.route("late", ["late.localhost"]));
  expect(await answerOf("late.localhost")).toEqual({ status: 200, port });
});

test("a probe of an instance that sleeps waits for it", async () => {
  const server = lone.serve("a", () => new Response("a"));
  const { port } = server;
  lone.change("a", { state: "asleep", port: 0 });
  await lone.route("a", ["a.localhost"]);
  const answer = answerOf("a.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  lone.change("a", { state: "running", port });
  expect(await answer).toEqual({ status: 200, port });
});

test("a client learns no port, and an application neither the secret nor how to name another port", async () => {
  let seen: Headers | null = null;
  const { port } = lone.serve("a", (request) => {
    seen = request.headers;
    return new Response("a", { headers: { [PORT_HEADER]: "1" } });
  });
  await lone.route("a", ["a.localhost"]);
  for (const secret of ["", "x", probeSecret(lone.engine.context).slice(1)]) {
    const response = await lone.get("a.localhost", "/", { headers: { [PROBE_HEADER]: secret } });
    expect([response.status, response.headers.get(PORT_HEADER)]).toEqual([200, null]);
  }
  expect(await answerOf("a.localhost")).toEqual({ status: 200, port });
  expect(seen).not.toBeNull();
  expect([...(seen ?? new Headers()).keys()].filter((name) => name.startsWith("x-pilvi"))).toEqual([]);
});

test("an edge that does not run answers no probe", async () => {
  await lone.killEngine();
  await expect(answerOf("a.localhost")).rejects.toThrow("The edge does not run.");
});
