// Clients that end their sending before they have their answers, as `printf … | nc -N` does.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import { until } from "../support/pilvi/pilvi.ts";

const LOGIN = commandBytes("AUTH", PASSWORD);
const USE = commandBytes("SET", "key", "value") + commandBytes("GET", "key");
const ANSWERS = "+OK\r\n$5\r\nvalue\r\n";

let cache: RedisGateway;
beforeEach(async () => {
  cache = await RedisGateway.create("valkey");
});
afterEach(async () => {
  await cache.close();
  expect(cache.faults).toEqual([]);
});

function dial(): Socket {
  return connect({ host: "127.0.0.1", port: cache.port, allowHalfOpen: true });
}

/** Sends commands and the end of all sending. @returns everything that is answered. */
async function answersTo(commands: string): Promise<string> {
  const socket = dial();
  socket.end(commands, "latin1");
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("latin1");
}

test("are served by the engine that they wake, as by an engine that runs", async () => {
  expect(await answersTo(LOGIN + USE)).toBe(`+OK\r\n${ANSWERS}`);
  expect(await answersTo(LOGIN + USE)).toBe(`+OK\r\n${ANSWERS}`);
  expect(cache.wakes).toHaveLength(1);
});

test("are waited for no longer when their connection breaks", async () => {
  cache.become("starting");
  const socket = dial();
  const isAnswered = new Promise((resolve) => socket.once("data", resolve));
  socket.write(LOGIN + USE, "latin1");
  await isAnswered;
  socket.resetAndDestroy();
  await until("the client is not served any more", () => cache.clients.size === 0);
});
