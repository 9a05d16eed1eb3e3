// The most clients that a cache takes, all of them at work at the same time.
import { afterEach, expect, test } from "bun:test";
import type { Socket } from "bun";
import { cacheOf, closeCaches, WITHOUT_LOG } from "../../../tests/support/engines/lone-cache.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { asAdmin } from "./admin.ts";
import { MAX_CLIENTS } from "./memory.ts";

const AT_A_TIME = 500;

afterEach(closeCaches);

test.each(["redis", "valkey"] as const)(
  "%s keeps all clients that do little at the same time",
  async (name) => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    const port = cache.context.spec.exposure.port ?? 0;
    const clients: Socket[] = [];
    let answers = 0;
    let gone = 0;
    const socket = {
      data: (_: Socket, bytes: Buffer) => {
        answers += bytes.toString("latin1").split("\n").length - 1;
      },
      close: () => {
        gone += 1;
      },
    };
    while (clients.length < MAX_CLIENTS) {
      const next = Array.from({ length: AT_A_TIME }, () =>
        Bun.connect({ hostname: "127.0.0.1", port, socket }),
      );
      for (const client of await Promise.all(next)) {
        clients.push(client);
        client.write("AUTH moi\r\n");
      }
      await until("they have logged in, or gone", () => answers + gone >= clients.length);
    }
    // Commands in two parts have buffers of their own in the engine, as those of the gateway have.
    for (const client of clients) client.write("PI");
    for (const client of clients) client.write("NG\r\n");
    await until("all are answered, or gone", () => answers + gone >= 2 * MAX_CLIENTS);
    const stats = await asAdmin(cache.context, (client) => client.send("INFO", ["stats"]));
    for (const client of clients) client.terminate();
    expect(/evicted_clients:(\d+)/.exec(String(stats))?.[1]).toBe("0");
  },
);
