// A client whose only frames are pings of RFC 6455 counts as alive, by a clock that the test moves.
import { expect, spyOn, test } from "bun:test";
import { frameOf, OPCODE, RawWebSocket } from "../../../tests/support/wire/raw-websocket.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { createLog } from "../../lib/log.ts";
import { beat } from "../heartbeat.ts";
import { KEY, TestCluster } from "../test-support.ts";
import { Backlog } from "./backlog.ts";
import { answer, socketHandlers, type SocketData } from "./listener.ts";

const PING_INTERVAL_S = 10;
/** The last ping comes long after a client that was asked at the first interval would be closed. */
const PINGS = 10;

const pongsOf = ({ frames }: RawWebSocket) => frames.filter(({ opcode }) => opcode === OPCODE.pong).length;

test("a client that only sends pings is neither asked nor closed", async () => {
  const { cluster } = new TestCluster({ pingIntervalSeconds: PING_INTERVAL_S });
  const log = createLog("realtime", "silent");
  const server = Bun.serve<SocketData>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, upgrading) => answer(request, upgrading, cluster, () => undefined),
    websocket: { ...socketHandlers(cluster, new Backlog(cluster, log), log), sendPings: false },
  });
  const connected = () => RawWebSocket.greeted(server.port ?? 0, { path: `/app/${KEY}?protocol=7` });
  const clients = [await connected(), await connected()] as const;
  const [pinging, silent] = clients;
  let nowMs = performance.now();
  const clock = spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    for (let pings = 1; pings <= PINGS; pings += 1) {
      nowMs += (PING_INTERVAL_S - 1) * 1_000;
      pinging.write(frameOf(OPCODE.ping, ""));
      await until("the ping is answered", () => pinging.isEnded || pongsOf(pinging) === pings);
      beat(cluster);
    }
    await until("the silent client is closed", () => silent.isEnded);
    expect(silent.closeCode).toBe(4201);
    // The last answer comes after all that the server sent before.
    expect(await pinging.isServed()).toBe(true);
    const { text, pong } = OPCODE;
    expect(pinging.frames.map(({ opcode }) => opcode)).toEqual([text, ...Array(PINGS).fill(pong), text]);
  } finally {
    clock.mockRestore();
    for (const client of clients) client.destroy();
    await server.stop(true);
  }
});
