// A cache that runs a script for too long answers every command with BUSY; a client can still come and end the script.
import { afterEach, expect, test } from "bun:test";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import { until } from "../support/pilvi/pilvi.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

test.each(ENGINES)("a login with a command behind it reaches a busy %s", async (name) => {
  const cache = await RedisGateway.create(name, ["lua-time-limit 1"]);
  cleanUps.push(() => cache.close());
  await cache.wake();
  const login = commandBytes("AUTH", PASSWORD);
  const hog = await cache.dial();
  hog.write(login + commandBytes("EVAL", "while true do end", "0"));
  const engine = await cache.dialEngine();
  await engine.ask(login, "+OK\r\n");
  await until("the engine is busy", async () =>
    (await engine.ask(commandBytes("GET", "key"), "\r\n")).startsWith("-BUSY "),
  );
  const client = await cache.dial();
  const named = login + commandBytes("CLIENT", "SETNAME", "killer");
  const answers = "+OK\r\n".repeat(3);
  expect(await client.ask(named + commandBytes("SCRIPT", "KILL"), answers)).toBe(answers);
  expect(await hog.ask("", ":1.\r\n")).toContain("Script killed");
});
