// Suspending an instance behind the gateway: when it may sleep, and what happens to its clients.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { BackendStage } from "../support/gateway/backend-stage.ts";

let stage: BackendStage;
beforeEach(() => {
  stage = new BackendStage();
});
afterEach(() => stage.close());

test("an instance is reported idle after its idle time, and again until a client uses it", async () => {
  stage.start();
  const { peer } = await stage.spliced();
  await stage.pass(59_000);
  peer.send("x");
  await stage.loop.rest();
  await stage.pass(59_999);
  expect(stage.count("idle")).toBe(0);
  await stage.pass(1);
  expect(stage.count("idle")).toBe(1);
  for (const expected of [2, 3]) {
    await stage.pass(10_000);
    expect(stage.count("idle")).toBe(expected);
  }
  peer.send("x");
  await stage.loop.rest();
  await stage.pass(20_000);
  expect(stage.count("idle")).toBe(3);
  stage.become("running", { sleepAfterSeconds: null });
  await stage.pass(1_000_000);
  expect(stage.count("idle")).toBe(3);
});

test("a failed attempt to sleep does not count as use", async () => {
  stage.start();
  await stage.spliced();
  await stage.pass(60_000);
  expect(stage.count("idle")).toBe(1);
  stage.become("draining");
  await stage.pass(10_000);
  expect(stage.count("idle")).toBe(1);
  stage.become("running");
  await stage.pass(10_000);
  expect(stage.count("idle")).toBe(2);
  stage.become("draining");
  stage.become("asleep");
  await stage.pass(60_000);
  stage.become("running");
  await stage.pass(59_999);
  expect(stage.count("idle")).toBe(2);
  await stage.pass(1);
  expect(stage.count("idle")).toBe(3);
});

test("a drain waits for a login under way, and for a client that pauses between two messages", async () => {
  stage.start();
  const { connecting } = await stage.waiting();
  const stream = await stage.loop.of(connecting);
  stage.become("draining");
  stage.backend.drain(1_000);
  await stage.pass(100);
  expect(stage.count("drained")).toBe(0);
  stream.end();
  await stage.loop.until(() => {
    stage.engine?.accept();
    stage.nowMs += 5;
    return stage.count("drained") === 1;
  });
});

test("a drain that takes too long is reported as busy, and all clients go on when the host says so", async () => {
  stage.start();
  const { peer } = await stage.spliced();
  peer.send("\x03one");
  await stage.loop.rest();
  stage.become("draining");
  stage.backend.drain(200);
  const late = await stage.waiting();
  await stage.pass(199);
  expect([stage.count("drained"), stage.count("busy"), stage.count("wake")]).toEqual([0, 0, 1]);
  await stage.pass(5);
  expect(stage.count("busy")).toBe(1);
  stage.become("running");
  (await stage.loop.of(late.connecting)).end();
  await stage.loop.until(() => {
    stage.engine?.goOn(() => true);
    return peer.text === "\x03one";
  });
});

test("a yielding drain ends as soon as a client has something to say", async () => {
  stage.start();
  const { peer } = await stage.spliced();
  stage.become("draining");
  stage.backend.drain(60_000, true);
  await stage.pass(25);
  expect(stage.count("drained")).toBe(1);
  peer.send("\x03one");
  await stage.loop.rest();
  stage.backend.disconnectIfIdle();
  expect([stage.count("busy"), stage.count("detached")]).toEqual([1, 0]);
  stage.become("running");
  await stage.loop.until(() => {
    stage.engine?.goOn(() => true);
    return peer.text === "\x03one";
  });
  stage.become("draining");
  stage.backend.drain(60_000, true);
  peer.send("\x03two");
  await stage.pass(5);
  expect(stage.count("busy")).toBe(2);
});

test("clients are disconnected only from an engine that has answered everything", async () => {
  stage.start();
  const { peer, end, stream } = await stage.spliced();
  stage.backend.disconnectIfIdle();
  expect([stage.count("busy"), stage.count("detached")]).toEqual([1, 0]);
  stage.become("draining");
  stage.backend.drain(60_000);
  await stage.pass(25);
  stage.backend.disconnectIfIdle();
  expect(await stage.loop.of(end)).toBe("detached");
  expect(stage.count("detached")).toBe(0);
  stream.end();
  await stage.loop.until(() => {
    stage.engine?.accept();
    stage.nowMs += 1;
    return stage.count("detached") === 1;
  });
  expect([stage.engine?.sessions, peer.receiveAll().end]).toEqual([0, null]);
});

test("a protocol handler that keeps its engine for too long does not keep it from being stopped", async () => {
  stage.start();
  const { end } = await stage.spliced();
  stage.become("draining");
  stage.backend.drain(60_000);
  await stage.pass(25);
  stage.backend.disconnectIfIdle();
  await stage.loop.of(end);
  // Time in which the gateway does not look counts as little silence.
  for (let passedMs = 0; passedMs < 1_900; passedMs += 50) await stage.pass(50);
  expect(stage.count("detached")).toBe(0);
  await stage.pass(99);
  await stage.pass(2);
  await stage.loop.rest();
  expect(stage.count("detached")).toBe(1);
});

test("a client before its login keeps no engine from being stopped", async () => {
  stage.start();
  const begun = await stage.loop.of(stage.backend.connectIfRunning());
  stage.become("draining");
  stage.backend.drain(60_000);
  await stage.pass(25);
  stage.backend.disconnectIfIdle();
  expect(stage.count("detached")).toBe(1);
  const { client } = await stage.newClient();
  const connecting = stage.backend.connect(client, { user: "ann", address: "here" }, begun ?? undefined);
  stage.become("running");
  expect(await stage.loop.of(connecting)).not.toBe(begun);
});

test("an instance that is given up disconnects its connected and its waiting clients", async () => {
  stage.start();
  const { client, end } = await stage.spliced();
  stage.become("starting");
  const held = await stage.waiting();
  stage.backend.close();
  for (const each of [client, held.client]) each.end();
  expect(await stage.loop.of(end)).toBe("closed");
  expect(await stage.loop.rejectionOf(held.connecting)).toBeInstanceOf(StreamEnded);
  await stage.loop.until(() => stage.engine?.sessions === 0);
});
