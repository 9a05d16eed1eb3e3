// Which addresses lead to this machine.
import { expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { isOwnAddress } from "./own-address.ts";

const MACHINE = ["127.0.0.1", "8.8.4.4", "::1", "2606:4700::1"];

test.each([
  ["127.1.2.3", true],
  ["169.254.169.254", true],
  ["168.63.129.16", true],
  ["::ffff:168.63.129.16", true],
  ["100.100.100.200", true],
  ["fd00:ec2::254", true],
  ["8.8.4.4", true],
  ["::ffff:8.8.4.4", true],
  ["64:ff9b::808:404", true],
  ["2606:4700::1", true],
  ["2606:4700:0:0::1", true],
  ["8.8.8.8", false],
  ["10.0.0.1", false],
  ["2606:4700::2", false],
  ["2002:808:808::1", false],
])("%s: %p", (address, isOwn) => {
  expect(isOwnAddress(address, MACHINE)).toBe(isOwn);
});

test("the addresses of the machine's interfaces are its own", () => {
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) =>
    each.map(({ address }) => address),
  );
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => !isOwnAddress(address))).toEqual([]);
});
