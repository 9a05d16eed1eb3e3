// A dead peer whose connection the kernel keeps is disconnected in time; this takes half a minute.
import { expect, test } from "bun:test";
import { until } from "../support/pilvi/pilvi.ts";
import { messageOf, RawWebSocket } from "../support/wire/raw-websocket.ts";
import { startRealtime } from "../support/engines/realtime.ts";

test("a dead peer is disconnected within its ping interval and 30 s", async () => {
  const server = await startRealtime({ pingIntervalSeconds: 1 });
  const [dead, alive] = [await RawWebSocket.greeted(server.port), await RawWebSocket.greeted(server.port)];
  const answering = setInterval(() => alive.write(messageOf("pusher:pong", {})), 500);
  try {
    await dead.event("pusher:ping");
    await dead.subscribe("news");
    const since = performance.now();
    // Bytes that are sent to the dead peer are no sign of its life.
    const gone = async () => {
      await server.pusher().trigger("news", "event", "x");
      return (await server.stats()).connections === 1;
    };
    await until("the dead peer is gone", gone, 35_000);
    expect(performance.now() - since).toBeLessThan(34_000);
    expect(dead.closeCode).toBe(4201);
    // From protocol 6 on the code of the close names the reason.
    expect(dead.events.map(({ event }) => event)).not.toContain("pusher:error");
    expect(await alive.isServed()).toBeTrue();
  } finally {
    clearInterval(answering);
    for (const client of [dead, alive]) client.destroy();
    await server.close();
  }
});
