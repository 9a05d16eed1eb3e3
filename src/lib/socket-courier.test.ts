// A courier whose other side takes later than it sends, with real sockets.
import { afterEach, expect, test } from "bun:test";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { pairForPassing } from "./descriptor-passing.ts";
import { SocketCourier } from "./socket-courier.ts";
import { sockets } from "./socket-calls.ts";

const MANY = 3_000;
const greeting = { text: "hello", check: () => {} };
const open: { close(): void }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** Two connected couriers, and a socket to send. */
function couriers() {
  const [own, other] = pairForPassing();
  const [sent, unused] = pairForPassing();
  open.push({ close: () => [sent, unused].forEach((fd) => sockets.close(fd)) });
  const pair = [new SocketCourier(own, greeting), new SocketCourier(other, greeting)] as const;
  open.push(...pair);
  return { pair, sent };
}

test("thousands of sockets and drops reach a side that takes late, in their order", async () => {
  const { pair, sent } = couriers();
  const [sender, taker] = pair;
  for (let number = 0; number < MANY; number++) {
    sender.drop(`name-${number}`);
    sender.send([`name-${number}`, sent]);
  }
  // These names are still unsent, so nothing of them may arrive but the drop.
  const dropped = [MANY - 2, MANY - 1].map((number) => `name-${number}`);
  for (const name of dropped) sender.drop(name);
  const taken: string[] = [];
  await until("all have arrived", () => {
    for (const [name, fd] of taker.take()) {
      taken.push(`${fd === null ? "-" : "+"}${name}`);
      if (fd !== null) sockets.close(fd);
    }
    return taken.at(-1) === `-${dropped.at(-1)}`;
  });
  const expected = Array.from({ length: MANY - 2 }, (_, number) => [
    `-name-${number}`,
    `+name-${number}`,
  ]).flat();
  expect(taken).toEqual([...expected, ...dropped.map((name) => `-${name}`)]);
});
