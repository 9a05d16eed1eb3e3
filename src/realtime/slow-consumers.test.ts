// Clients that do not read are closed and counted, before they take much memory together.
import { expect, test } from "bun:test";
import { closeByAnswers, closeSlowConsumers } from "./slow-consumers.ts";
import { TestCluster } from "./test-support.ts";

const MIB = 1024 ** 2;

test("a client with more than 1 MiB waiting is closed with 4100, once, and counted; others stay", () => {
  const network = new TestCluster();
  const [slow, busy, idle] = [network.connected(), network.connected(), network.connected()];
  slow.subscribes("presence-room", { user_id: "slow" });
  busy.subscribes("presence-room", { user_id: "busy" });
  slow.buffered = MIB + 1;
  busy.buffered = MIB;
  expect(closeSlowConsumers(network.cluster)).toBe(1);
  expect(closeSlowConsumers(network.cluster)).toBe(0);
  expect([slow, busy, idle].map(({ closed }) => closed?.code)).toEqual([4100, undefined, undefined]);
  expect(busy.takeNames().at(-1)).toBe("pusher_internal:member_removed");
  expect(network.cluster.applicationByAppId("3")?.counters.slowConsumers).toBe(1);
});

test("the more clients are slow, the less may wait for each", () => {
  const network = new TestCluster();
  const clients = Array.from({ length: 1_000 }, () => network.connected());
  for (const [index, client] of clients.entries()) client.buffered = index < 500 ? MIB / 2 : MIB / 5;
  expect(closeSlowConsumers(network.cluster)).toBe(500);
  expect(clients.filter(({ closed }) => closed === null)).toHaveLength(500);
  const waiting = clients.reduce((sum, { buffered, closed }) => sum + (closed === null ? buffered : 0), 0);
  expect(waiting).toBeLessThanOrEqual(256 * MIB);
});

test("answers are checked apart, and what else waits for a client does not count", () => {
  const network = new TestCluster();
  const [reader, greedy] = [network.connected(), network.connected()];
  for (const client of [reader, greedy]) client.buffered = 3 * MIB;
  reader.bufferedAnswers = MIB;
  greedy.bufferedAnswers = MIB + 1;
  expect([closeByAnswers(network.cluster), closeByAnswers(network.cluster)]).toEqual([1, 0]);
  expect([reader, greedy].map(({ closed }) => closed?.code)).toEqual([undefined, 4100]);
});
