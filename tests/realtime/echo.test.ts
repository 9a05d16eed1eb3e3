// Laravel Echo, unmodified, with both of its broadcasters that speak the protocol.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import Echo, { type EchoOptions } from "laravel-echo";
import Pusher from "pusher-js";
import { until } from "../support/pilvi/pilvi.ts";
import { AuthServer } from "../support/clients/pusher-clients.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const MASTER_KEY = Buffer.alloc(32, 9).toString("base64");

let realtime: TestRealtime;
let auth: AuthServer;
let echoes: { disconnect(): void }[] = [];

beforeEach(async () => {
  realtime = await startRealtime();
  auth = new AuthServer(realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY }));
});

afterEach(async () => {
  for (const echo of echoes) echo.disconnect();
  echoes = [];
  await auth.close();
  await realtime.close();
});

describe.each(["reverb", "pusher"] as const)("with the broadcaster %s", (broadcaster) => {
  function echoOf(id: string) {
    const echo = new Echo({
      // The options of both; the types differ by more than their names.
      broadcaster: broadcaster as "reverb",
      Pusher,
      key: APP.key,
      cluster: "",
      wsHost: "127.0.0.1",
      wsPort: realtime.port,
      forceTLS: false,
      enabledTransports: ["ws"],
      namespace: "App.Events",
      ...auth.options({ id, user_info: { name: id } }),
    } as EchoOptions<"reverb">);
    echoes.push(echo);
    return echo;
  }

  test("public, private and encrypted channels receive what Laravel broadcasts", async () => {
    const received: unknown[] = [];
    let count = 0;
    const echo = echoOf("ann");
    for (const channel of [echo.channel("news"), echo.private("orders"), echo.encryptedPrivate("secrets")])
      channel.subscribed(() => (count += 1)).listen("OrderShipped", (data: unknown) => received.push(data));
    await until("all are subscribed to", () => count === 3);
    const pusher = realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY });
    const event = "App\\Events\\OrderShipped";
    for (const [n, channel] of ["news", "private-orders", "private-encrypted-secrets"].entries()) {
      await pusher.trigger(channel, event, { n });
      await until(`${channel} received`, () => received.length === n + 1);
    }
    expect(received).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    const errors: unknown[] = [];
    echo.private("forbidden").error((error: unknown) => errors.push(error));
    await until("the other is refused", () => errors.length === 1);
  });

  test("presence channels report members here, joining and leaving, and pass whispers on", async () => {
    const [ann, bob] = [echoOf("ann"), echoOf("bob")];
    const seen: unknown[] = [];
    const annsRoom = ann
      .join("room")
      .here((members: { name: string }[]) => seen.push(["here", members.map(({ name }) => name)]))
      .joining((member: { name: string }) => seen.push(["joining", member.name]))
      .leaving((member: { name: string }) => seen.push(["leaving", member.name]))
      .listenForWhisper("typing", (data: unknown) => seen.push(["whisper", data]));
    await until("ann is here", () => seen.length === 1);
    const bobsRoom = bob.join("room");
    await until("bob joined", () => seen.length === 2);
    bobsRoom.whisper("typing", { who: "bob" });
    await until("bob whispered", () => seen.length === 3);
    bob.leave("room");
    await until("bob left", () => seen.length === 4);
    expect(seen).toEqual([
      ["here", ["ann"]],
      ["joining", "bob"],
      ["whisper", { who: "bob" }],
      ["leaving", "bob"],
    ]);
    expect(annsRoom).toBeDefined();
  });
});
