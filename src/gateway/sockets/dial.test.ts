// The addresses of clients as text.
import { expect, test } from "bun:test";
import { peerText } from "./dial.ts";

test.each([
  ["127.0.0.1", 53_312, "127.0.0.1:53312"],
  ["203.0.113.255", 1, "203.0.113.255:1"],
  ["::1", 80, "[::1]:80"],
  ["2001:db8::1:0:0:2", 65_535, "[2001:db8::1:0:0:2]:65535"],
])("%s and the port %d become %p", (address, port, text) => {
  expect(peerText({ remoteAddress: address, remotePort: port })).toBe(text);
});

test("an IPv4 client of a dual-stack socket gets its IPv4 address", () => {
  expect(peerText({ remoteAddress: "::ffff:192.0.2.7", remotePort: 80 })).toBe("192.0.2.7:80");
});

test("a client that has gone has no address", () => {
  expect(peerText({ remoteAddress: undefined, remotePort: 0 })).toBeNull();
});
