// Requests for applications that do not run: a real edge holds them, and the host wakes the application once for all.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
});

afterEach(async () => await lone.close());

const BODY = "b".repeat(5_000);

/** An application that sleeps; a wake leaves it as it is until `run`. */
function sleeper(id: string): { run(): void } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => new Response(`${request.method} ${(await request.text()).length}`),
  });
  lone.keep(server);
  lone.add(id, "asleep", 0, () => {
    if (lone.applications.get(id)?.state === "asleep") lone.change(id, { state: "starting" });
  });
  return { run: () => lone.change(id, { state: "running", port: server.port ?? 0 }) };
}

test("a crowd of requests with bodies wakes an application once, and all are answered", async () => {
  const application = sleeper("a");
  await lone.route("a", ["a.localhost"]);
  const crowd = Array.from({ length: 20 }, () =>
    lone.get("a.localhost", "/", { method: "POST", body: BODY }),
  );
  await until("all are held", () => lone.edge.waiting === 20);
  expect(lone.applications.get("a")).toMatchObject({ wakes: 1 });
  application.run();
  for (const response of await Promise.all(crowd)) {
    expect([response.status, await response.text()]).toEqual([200, "POST 5000"]);
  }
  expect(lone.edge.waiting).toBe(0);
  // From now on the edge knows the port by itself.
  lone.killHost();
  expect(await (await lone.get("a.localhost")).text()).toBe("GET 0");
  lone.startHost();
});

test("an application that falls asleep again is woken again", async () => {
  const application = sleeper("a");
  await lone.route("a", ["a.localhost"]);
  for (const round of [1, 2, 3]) {
    const held = lone.get("a.localhost");
    await until("it is held", () => lone.edge.waiting === 1);
    application.run();
    expect((await held).status).toBe(200);
    expect(lone.applications.get("a")?.wakes).toBe(round);
    lone.change("a", { state: "asleep", port: 0 });
    // The call returns when the edge has all changes before it.
    await lone.route("other", ["other.localhost"], null);
  }
});

test("a request is held while an application that crashed is started again", async () => {
  const application = sleeper("a");
  await lone.route("a", ["a.localhost"]);
  lone.change("a", { state: "starting" });
  const held = lone.get("a.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  application.run();
  expect((await held).status).toBe(200);
  expect(lone.applications.get("a")?.wakes).toBe(0);
});

test("an application that cannot start answers with the page at once", async () => {
  sleeper("a");
  await lone.route("a", ["a.localhost"]);
  const held = lone.get("a.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  lone.change("a", { state: "failed" });
  const response = await held;
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("does not run")]);
  expect((await lone.get("a.localhost")).status).toBe(503);
});

test("a request that is held goes to the instance that the route gets meanwhile", async () => {
  sleeper("old");
  lone.serve("new", () => new Response("new"));
  await lone.route("env", ["env.localhost"], "old");
  const held = lone.get("env.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  await lone.route("env", ["env.localhost"], "new");
  expect(await (await held).text()).toBe("new");
  await lone.route("env", ["env.localhost"], "old");
  const again = lone.get("env.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  await lone.edge.remove("env");
  expect((await again).status).toBe(503);
});

test("a client that leaves frees its place", async () => {
  sleeper("a");
  await lone.route("a", ["a.localhost"]);
  const clients = await Promise.all(Array.from({ length: 10 }, () => opened(lone.port)));
  for (const client of clients) client.write("GET / HTTP/1.1\r\nhost: a.localhost\r\n\r\n");
  await until("all are held", () => lone.edge.waiting === 10);
  for (const client of clients) client.destroy();
  await until("none is held", () => lone.edge.waiting === 0);
});

test("no more than some hundred requests wait for one application, and others still do for theirs", async () => {
  const application = sleeper("a");
  const other = sleeper("b");
  await lone.route("a", ["a.localhost"]);
  await lone.route("b", ["b.localhost"]);
  const clients = await Promise.all(Array.from({ length: 520 }, () => opened(lone.port)));
  let refused = 0;
  for (const client of clients) {
    client.on("data", (bytes) => {
      if (String(bytes).startsWith("HTTP/1.1 503")) refused += 1;
    });
    client.write("GET / HTTP/1.1\r\nhost: a.localhost\r\n\r\n");
  }
  await until("the excess is refused", () => refused === 20 && lone.edge.waiting === 500);
  const held = lone.get("b.localhost");
  await until("the other is held", () => lone.edge.waiting === 501);
  other.run();
  expect((await held).status).toBe(200);
  application.run();
  await until("all are answered", () => lone.edge.waiting === 0);
  for (const client of clients) client.destroy();
});

test("requests that are held outlive their host", async () => {
  const application = sleeper("a");
  await lone.route("a", ["a.localhost"]);
  const held = Array.from({ length: 5 }, () => lone.get("a.localhost", "/", { method: "POST", body: BODY }));
  await until("all are held", () => lone.edge.waiting === 5);
  lone.killHost();
  lone.startHost();
  await until("the next host has them", () => lone.edge.waiting === 5);
  application.run();
  for (const response of await Promise.all(held)) expect(response.status).toBe(200);
});

test("the answer to a request that is held is a WebSocket when it asks for one", async () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, own) => (own.upgrade(request) ? undefined : new Response("no", { status: 400 })),
    websocket: { open: (socket) => void socket.send("awake"), message: () => {} },
  });
  lone.keep(server);
  lone.add("a", "asleep", 0);
  await lone.route("a", ["a.localhost"]);
  const options = { headers: { host: "a.localhost" } } as unknown as string[];
  const socket = new WebSocket(`ws://127.0.0.1:${lone.port}/`, options);
  const message = new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data)));
  await until("it is held", () => lone.edge.waiting === 1);
  lone.change("a", { state: "running", port: server.port ?? 0 });
  expect(await message).toBe("awake");
  socket.close();
});

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return socket;
}
