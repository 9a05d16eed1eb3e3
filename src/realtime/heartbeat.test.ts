// Silent connections are pinged, and dead connections are closed in time.
import { describe, expect, test } from "bun:test";
import { beat } from "./heartbeat.ts";
import { TestCluster, type TestClient } from "./test-support.ts";

const PING_INTERVAL_S = 10;

/** A cluster with a clock that the test moves, a beat a second. */
class Beating {
  readonly network = new TestCluster({ pingIntervalSeconds: PING_INTERVAL_S });
  #now = performance.now();

  connected(): TestClient {
    return this.network.connected();
  }

  /** @param each is called before every beat, with the seconds that have passed. */
  pass(seconds: number, each: (second: number) => void = () => undefined): void {
    for (let second = 1; second <= seconds; second++) {
      this.#now += 1_000;
      each(second);
      beat(this.network.cluster, this.#now);
    }
  }

  /** The client gives a sign of life at the test's time. */
  received({ connection }: TestClient): void {
    if (connection === null) throw new Error("not connected");
    connection.received();
    connection.receivedAt = this.#now;
  }
}

describe("a connection", () => {
  test("that is silent is pinged after the interval, subscribed or not", () => {
    const beating = new Beating();
    const client = beating.connected();
    beating.pass(PING_INTERVAL_S - 1);
    expect(client.take()).toEqual([]);
    beating.pass(2);
    expect(client.take()).toEqual([{ event: "pusher:ping", data: {} }]);
    beating.pass(5);
    expect(client.take()).toEqual([]);
  });

  test("of protocol 4 is pinged by RFC 6455 alone, and of any other in both ways", () => {
    const beating = new Beating();
    const clients = [4, 5, 7].map((protocol) => beating.network.connect({ query: `protocol=${protocol}` }));
    for (const client of clients) client.take();
    beating.pass(PING_INTERVAL_S + 1);
    expect(clients.map(({ pings }) => pings)).toEqual([1, 1, 1]);
    expect(clients.map((client) => client.takeNames())).toEqual([[], ["pusher:ping"], ["pusher:ping"]]);
  });

  test("that answers stays open", () => {
    const beating = new Beating();
    const client = beating.connected();
    let pings = 0;
    beating.pass(600, () => {
      const count = client.take().length;
      pings += count;
      if (count > 0) beating.received(client);
    });
    expect(client.closed).toBeNull();
    expect(pings).toBeGreaterThan(40);
  });

  test("that does not answer is closed with 4201 within its interval and 30 s, whatever the server sends", () => {
    const beating = new Beating();
    const [dead, alive] = [beating.connected(), beating.connected()];
    for (const client of [dead, alive]) client.subscribes("presence-room", { user_id: client.socketId });
    alive.take();
    let goneAfter = 0;
    beating.pass(PING_INTERVAL_S + 30, (second) => {
      beating.received(alive);
      dead.connection?.application.publish("presence-room", "news", "1");
      if (dead.closed === null) goneAfter = second;
    });
    expect(dead.closed?.code).toBe(4201);
    expect(goneAfter).toBeWithin(PING_INTERVAL_S + 20, PING_INTERVAL_S + 30);
    expect(alive.takeNames()).toContain("pusher_internal:member_removed");
    expect(beating.network.cluster.connectionCount).toBe(1);
  });

  test("that sends anything is alive, even when it is nonsense", () => {
    const client = new TestCluster().connected();
    for (const text of [
      "",
      "nonsense",
      "{}",
      '{"event":"pusher:pong"}',
      '{"event":"pusher:ping","data":{}}',
    ]) {
      if (client.connection === null) throw new Error("not connected");
      client.connection.pingedAt = 1;
      client.connection.receivedAt = 0;
      client.saysText(text);
      expect(client.connection.pingedAt).toBeNull();
      expect(client.connection.receivedAt).toBeGreaterThan(0);
    }
    expect(client.take().at(-1)).toEqual({ event: "pusher:pong", data: {} });
  });

  test("follows another interval at once", () => {
    const beating = new Beating();
    const client = beating.connected();
    beating.network.configure({ pingIntervalSeconds: 2 });
    beating.pass(3);
    expect(client.takeNames()).toEqual(["pusher:ping"]);
  });
});
