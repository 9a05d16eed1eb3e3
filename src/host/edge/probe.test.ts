// Probes through a real edge: the host learns which instance answers, and nobody else does.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { PORT_HEADER, PROBE_HEADER } from "../../engines/edge.ts";
import { probeSecret } from "../../engines/haproxy/config.ts";
import { haproxy } from "../../engines/haproxy/index.ts";
import { CONFIG_FILE, PROBE_SOCKET_NAME } from "../../engines/haproxy/paths.ts";
import { AF_UNIX, memoryOf, SOCK_CLOEXEC, SOCK_STREAM, sockets } from "../../lib/socket-calls.ts";
import { unixName } from "../../lib/socket-names.ts";
import type { EdgeAnswer } from "../../contracts/edge-probe.ts";

const PER_ADDRESS = 20;

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start({ maxConnectionsPerAddress: PER_ADDRESS });
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
  for (const secret of ["", probeSecret(lone.engine.context)]) {
    const response = await lone.get("a.localhost", "/", { headers: { [PROBE_HEADER]: secret } });
    // The header is that of the application.
    expect([response.status, response.headers.get(PORT_HEADER)]).toEqual([200, "1"]);
  }
  expect(await answerOf("a.localhost")).toEqual({ status: 200, port });
  expect(seen).not.toBeNull();
  expect([...(seen ?? new Headers()).keys()].filter((name) => name.startsWith("x-pilvi"))).toEqual([]);
});

test("a probe is answered while the programs of this machine have all connections of their address", async () => {
  const { port } = lone.serve("a", () => new Response("a"));
  await lone.route("a", ["a.localhost"]);
  let refused = 0;
  const refuse = () => void (refused += 1);
  const socket = { data: () => {}, close: refuse };
  // A connection may be reset before it counts as open.
  const connect = () => Bun.connect({ hostname: "127.0.0.1", port: lone.port, socket }).catch(refuse);
  const kept = await Promise.all(Array.from({ length: PER_ADDRESS + 1 }, connect));
  await until("the last has been refused", () => refused === 1);
  await expect(lone.get("a.localhost", "/", { keepalive: false })).rejects.toThrow();
  expect(await answerOf("a.localhost")).toEqual({ status: 200, port });
  expect(refused).toBe(1);
  for (const each of kept) each?.terminate();
});

test("a probe is answered while clients have all connections of the edge", async () => {
  const full = await LoneEdge.start({ maxConnections: 4 });
  try {
    const { port } = full.serve("a", () => new Response("a"));
    await full.route("a", ["a.localhost"]);
    const answered = Promise.withResolvers<void>();
    const request = "GET / HTTP/1.1\r\nhost: a.localhost\r\n\r\n";
    const kept = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const answer = Promise.withResolvers<void>();
        const socket = { data: () => answer.resolve() };
        const connection = await Bun.connect({ hostname: "127.0.0.1", port: full.port, socket });
        connection.write(request);
        await answer.promise;
        return connection;
      }),
    );
    const waiting = await Bun.connect({
      hostname: "127.0.0.1",
      port: full.port,
      socket: { data: () => answered.resolve() },
    });
    waiting.write(request);
    const answer = await full.edge.probe({ name: "a.localhost", path: "/", timeoutSeconds: 10 });
    expect(answer).toEqual({ status: 200, port });
    for (const each of kept) each.terminate();
    await answered.promise;
    waiting.terminate();
  } finally {
    await full.close();
  }
});

test("an application sees a probe as it sees a client of this machine", async () => {
  const seen: [string, string][][] = [];
  lone.serve("a", ({ headers }) => {
    for (const name of ["x-request-id", "user-agent", "accept-encoding", "accept", "connection"])
      headers.delete(name);
    seen.push([...headers]);
    return new Response("a");
  });
  await lone.route("a", ["a.localhost"]);
  await answerOf("a.localhost");
  await lone.get("a.localhost");
  expect(seen[0]).toEqual(seen[1] ?? []);
  expect(Object.fromEntries(seen[0] ?? [])).toMatchObject({
    "x-real-ip": "127.0.0.1",
    "x-forwarded-port": String(lone.port),
  });
});

test("the socket of probes is open to its owner alone", () => {
  expect(statSync(socketOf(lone)).mode & 0o777).toBe(0o600);
});

/** The edge of a former release, which knew the host by the secret at its port. */
const former: typeof haproxy = {
  ...haproxy,
  files: (context) => {
    const { [CONFIG_FILE]: config = "", ...others } = haproxy.files(context);
    const rules = [
      "frontend clients",
      `http-request set-var(txn.probe) bool(true) if { req.hdr(${PROBE_HEADER}) -m str ${probeSecret(context)} }`,
      `http-response set-header ${PORT_HEADER} %[dst_port] if { var(txn.probe) -m bool }`,
    ];
    return { ...others, [CONFIG_FILE]: config.replace(rules[0] ?? "", rules.join("\n  ")) };
  },
};

test.each(["has none", "has left one"])(
  "a probe goes to the port where an edge of a former release %s",
  async (which) => {
    const edge = await LoneEdge.start({ engine: former });
    try {
      const { port } = edge.serve("a", () => new Response("a"));
      await edge.route("a", ["a.localhost"]);
      rmSync(socketOf(edge));
      if (which === "has left one") leaveSocket(socketOf(edge));
      const answer = await edge.edge.probe({ name: "a.localhost", path: "/", timeoutSeconds: 10 });
      expect(answer).toEqual({ status: 200, port });
    } finally {
      await edge.close();
    }
  },
);

function socketOf({ engine }: LoneEdge): string {
  return join(engine.context.paths.runDir, PROBE_SOCKET_NAME);
}

/** Makes a socket at which nobody listens. */
function leaveSocket(path: string): void {
  const fd = sockets.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const name = unixName(path);
  expect(sockets.bind(fd, memoryOf(name), name.length)).toBe(0);
  sockets.close(fd);
}

test("an edge that does not run answers no probe", async () => {
  await lone.killEngine();
  await expect(answerOf("a.localhost")).rejects.toThrow("The edge does not run.");
});
