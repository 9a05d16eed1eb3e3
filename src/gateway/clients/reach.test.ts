// The clients that could not have connected to an address.
import { expect, test } from "bun:test";
import { isLoopbackPeer, outOfReach } from "./reach.ts";

const NEAR = ["127.0.0.1:5", "127.8.0.1:5", "[::1]:5"];
const FAR = ["10.0.0.7:5", "12.7.0.1:5", "[::10]:5", "[fd00::1]:5"];
const clients = [...NEAR, ...FAR].map((address) => ({ address }));

test("peers with a loopback address are peers of this machine", () => {
  expect(clients.filter(({ address }) => isLoopbackPeer(address)).map(({ address }) => address)).toEqual(
    NEAR,
  );
});

test.each(["127.0.0.1", "127.1.2.3", "::1"])("at %s only clients of this machine can be", (address) => {
  expect(outOfReach(clients, address).map((client) => client.address)).toEqual(FAR);
});

test.each(["0.0.0.0", "::", "10.0.0.1"])("at %s anybody can be", (address) => {
  expect(outOfReach(clients, address)).toEqual([]);
});
