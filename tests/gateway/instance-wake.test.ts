// An instance behind the gateway that is asleep, starts or cannot start: which clients wait, and what the host learns.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { EngineUnavailable } from "../../src/gateway/backend.ts";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { BackendStage } from "../support/gateway/backend-stage.ts";

const REASON = { user: "ann", address: "127.0.0.1:1" };

let stage: BackendStage;
beforeEach(() => {
  stage = new BackendStage();
});
afterEach(() => stage.close());

test("many waiting clients ask the host once, for the first of them", async () => {
  const all = [];
  for (let count = 0; count < 50; count++) all.push(await stage.waiting(`user-${count}`));
  expect(stage.received).toEqual([
    { type: "wake", id: "db-1", reason: { user: "user-0", address: "127.0.0.1:1" } },
  ]);
  stage.become("starting");
  await stage.pass(2_000);
  await stage.waiting("late");
  expect(stage.count("wake")).toBe(1);
  stage.start();
  for (const { connecting } of all) expect((await stage.loop.of(connecting)).end).toBeFunction();
  expect(stage.count("wake")).toBe(1);
});

test("a wake is reported with its spans when the client that caused it can use the engine", async () => {
  const first = await stage.newClient();
  stage.nowMs += 5;
  first.peer.send("x");
  await stage.loop.of(first.client.read(1));
  stage.nowMs += 7;
  const connecting = stage.backend.connect(first.client, { user: "ann", database: "main", address: "here" });
  const second = await stage.waiting("bob");
  stage.nowMs += 20;
  stage.start();
  for (const promise of [connecting, second.connecting]) await stage.loop.of(promise);
  stage.nowMs += 9;
  stage.backend.loggedIn(second.client);
  expect(stage.count("woken")).toBe(0);
  stage.backend.loggedIn(first.client);
  expect(stage.received.at(-1)).toMatchObject({
    type: "woken",
    wake: {
      reason: { user: "ann", database: "main", address: "here" },
      spansMs: { accept: 5, auth: 7, start: 3, ready: 17, login: 9 },
    },
  });
  stage.backend.loggedIn(first.client);
  expect(stage.count("woken")).toBe(1);
});

test("a wake whose first client has left is attributed to the next client that asks", async () => {
  const first = await stage.waiting("ann");
  first.client.end();
  expect(await stage.loop.rejectionOf(first.connecting)).toBeInstanceOf(StreamEnded);
  stage.nowMs += 1_000;
  await stage.waiting("bob");
  expect(stage.received.at(-1)).toMatchObject({ type: "wake", reason: { user: "bob" } });
});

test("a wake whose client leaves before its login to the running engine is reported once", async () => {
  const ann = await stage.waiting("ann");
  const bob = await stage.waiting("bob");
  stage.nowMs += 20;
  stage.start();
  for (const { connecting } of [ann, bob]) await stage.loop.of(connecting);
  stage.nowMs += 9;
  stage.backend.left(bob.client);
  expect(stage.wakers).toEqual([]);
  stage.backend.left(ann.client);
  expect(stage.wakers).toEqual([["ann", 9]]);
  stage.nowMs += 60_000;
  stage.backend.loggedIn(bob.client);
  stage.backend.left(ann.client);
  expect(stage.wakers).toEqual([["ann", 9]]);
});

test("a wake whose client left before is reported when the engine runs", async () => {
  const ann = await stage.waiting("ann");
  const bob = await stage.waiting("bob");
  stage.become("starting");
  ann.client.end();
  stage.backend.left(ann.client);
  expect(stage.wakers).toEqual([]);
  stage.nowMs += 20;
  stage.start();
  expect(stage.wakers).toEqual([["ann", 0]]);
  await stage.loop.of(bob.connecting);
  stage.backend.loggedIn(bob.client);
  expect(stage.wakers).toEqual([["ann", 0]]);
});

test("a wake that ends in sleep before any login is reported, and so is the next", async () => {
  const { client, connecting } = await stage.waiting("ann");
  stage.start();
  await stage.loop.of(connecting);
  stage.nowMs += 9;
  stage.become("draining");
  stage.become("asleep");
  expect(stage.wakers).toEqual([["ann", 9]]);
  stage.backend.left(client);
  const bob = await stage.waiting("bob");
  stage.become("running");
  await stage.loop.of(bob.connecting);
  stage.backend.loggedIn(bob.client);
  expect(stage.wakers).toEqual([
    ["ann", 9],
    ["bob", 0],
  ]);
});

test("a client during a drain causes no wake if the instance stays awake, and causes one if it sleeps", async () => {
  stage.start();
  stage.become("draining");
  const ann = await stage.waiting("ann");
  stage.become("running");
  await stage.loop.of(ann.connecting);
  stage.backend.loggedIn(ann.client);
  expect(stage.wakers).toEqual([]);
  stage.become("draining");
  const bob = await stage.waiting("bob");
  for (const state of ["asleep", "starting", "running"] as const) stage.become(state);
  await stage.loop.of(bob.connecting);
  stage.backend.loggedIn(bob.client);
  expect(stage.wakers).toEqual([["bob", 0]]);
});

test("a start that failed, or that the host has forgotten, is not reported as that of a later wake", async () => {
  const leave = async (user: string) => {
    const { client } = await stage.waiting(user);
    client.end();
    stage.backend.left(client);
  };
  await leave("ann");
  for (const state of ["starting", "asleep", "starting", "running"] as const) stage.become(state);
  stage.become("asleep");
  await leave("bob");
  stage.become("asleep");
  stage.backend.remind();
  for (const state of ["starting", "running"] as const) stage.become(state);
  expect([stage.count("wake"), stage.wakers]).toEqual([2, []]);
});

test.each(["draining", "starting", "asleep"] as const)(
  "who comes while it is %s waits until it runs",
  async (state) => {
    stage.become(state);
    const { client, connecting } = await stage.waiting();
    const settled = stage.backend.settled(client);
    await stage.pass(60_000);
    stage.start();
    expect(await stage.loop.of(settled)).toBe(state === "asleep" ? "asleep" : "running");
    (await stage.loop.of(connecting)).end();
  },
);

test("a client that waits for an engine that cannot start gets the reason after five seconds", async () => {
  const { connecting } = await stage.waiting();
  stage.become("starting");
  await stage.pass(1_000);
  stage.become("failed", { lastError: "There is no room left." });
  await stage.pass(4_999);
  stage.become("starting");
  stage.become("failed");
  const rejection = stage.loop.rejectionOf(connecting);
  stage.nowMs += 1;
  expect(await rejection).toEqual(new EngineUnavailable("There is no room left."));
});

test("a failing engine is started again for waiting clients, but at most once a second", async () => {
  stage.become("failed", { lastError: "There is no room left." });
  await stage.waiting();
  await stage.waiting();
  expect(stage.count("wake")).toBe(1);
  await stage.pass(500);
  expect(stage.count("wake")).toBe(1);
  await stage.pass(500);
  expect(stage.count("wake")).toBe(2);
  await stage.waiting();
  expect(stage.count("wake")).toBe(2);
  await stage.pass(500);
  await stage.pass(500);
  expect(stage.count("wake")).toBe(3);
});

test("a client that leaves is not waited for", async () => {
  const { connecting, peer } = await stage.waiting();
  peer.close();
  expect(await stage.loop.rejectionOf(connecting)).toBeInstanceOf(StreamEnded);
});

test("a client that ends its sending behind a request is waited for until its connection breaks", async () => {
  const [first, second] = [await stage.waiting(), await stage.waiting()];
  for (const { peer } of [first, second]) {
    peer.send("a request");
    peer.shutdown();
  }
  await stage.loop.until(() => first.client.hasUnread() && second.client.hasUnread());
  first.peer.reset();
  expect(await stage.loop.rejectionOf(first.connecting)).toBeInstanceOf(StreamEnded);
  stage.start();
  (await stage.loop.of(second.connecting)).end();
});

test("a new host is asked once more, for the clients that still wait", async () => {
  const { connecting } = await stage.waiting();
  stage.become("asleep");
  stage.backend.remind();
  await stage.loop.rest();
  expect(stage.count("wake")).toBe(2);
  stage.become("asleep");
  await stage.loop.rest();
  expect(stage.count("wake")).toBe(2);
  stage.start();
  (await stage.loop.of(connecting)).end();
  stage.become("asleep");
  stage.backend.remind();
  await stage.loop.rest();
  expect(stage.count("wake")).toBe(2);
});

test("an engine with a full backlog is dialled again until it takes the connection", async () => {
  stage.start(0);
  const all = [];
  for (let count = 0; count < 20; count++) all.push((await stage.waiting()).connecting);
  const done = Promise.all(all);
  await stage.loop.until(() => {
    stage.nowMs += 10;
    return (stage.engine?.sessions ?? 0) === 20;
  });
  expect(await stage.loop.of(done)).toHaveLength(20);
});

test("held clients have a limit, and clients beyond it get an error", async () => {
  const { backend, received } = stage.backendWith({ maxHeld: 2 });
  const come = async () => {
    const { client } = await stage.newClient();
    return { client, outcome: backend.connect(client, REASON).catch((error: unknown) => error) };
  };
  const [first, second, third] = [await come(), await come(), await come()];
  expect(await stage.loop.of(third.outcome)).toEqual(
    new EngineUnavailable("too many clients wait for it already"),
  );
  first.client.end();
  const fourth = await come();
  for (const { client } of [second, fourth]) client.end();
  for (const { outcome } of [first, second, fourth])
    expect(await stage.loop.of(outcome)).toBeInstanceOf(StreamEnded);
  expect(received.map(({ type }) => type)).toEqual(["wake"]);
});
