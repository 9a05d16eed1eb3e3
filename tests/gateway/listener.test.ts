// The addresses of clients as the gateway sees them: the address that each client really has.
import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { HeldSocket } from "../../src/lib/held-socket.ts";
import { Listener } from "../../src/gateway/sockets/listener.ts";
import { addressOf } from "../support/wire/libc.ts";
import { Loop } from "../support/gateway/loop.ts";
import { freePort } from "../support/pilvi/ports.ts";

test("each client is identified by its own address", async () => {
  const loop = new Loop();
  const port = freePort();
  const accepted: string[] = [];
  const listener = new Listener(
    loop.pool,
    HeldSocket.bind({ address: "127.0.0.1", port }).fd,
    (socket, address) => {
      accepted.push(address);
      socket.close();
    },
  );
  const ownAddresses: string[] = [];
  for (let count = 1; count <= 3; count++) {
    const socket: Socket = connect(port, "127.0.0.1", () => {
      ownAddresses.push(`127.0.0.1:${socket.localPort}`);
    });
    await loop.until(() => accepted.length === count && ownAddresses.length === count);
    socket.destroy();
  }
  expect(accepted).toEqual(ownAddresses);
  listener.close();
  loop.close();
});

test.each([1, 28, 1000, 100_000])("a buffer of %d bytes keeps its address", (size) => {
  const memory = new Uint8Array(size);
  const before = addressOf(memory);
  memory.subarray(0, 1);
  expect(addressOf(memory)).toBe(before);
});
