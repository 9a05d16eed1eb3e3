// Socket addresses in the forms of the kernel.
import { expect, test } from "bun:test";
import { inet, inet6 } from "../../lib/socket-names.ts";
import { peerText } from "./sockets.ts";

test.each(["0.0.0.0", "127.0.0.1", "203.0.113.255"])("%s is itself again", (address) => {
  expect(peerText(inet(address, 53_312))).toBe(`${address}:53312`);
});

test.each(["::", "::1", "2001:db8::1", "1::", "1:2:3:4:5:6:7:8", "2001:db8:0:1::8", "fe80::1:0:0:2"])(
  "%s is itself again",
  (address) => {
    expect(peerText(inet6(address, 1))).toBe(`[${address}]:1`);
  },
);

test("an IPv6 address in any notation becomes its shortest form", () => {
  expect(peerText(inet6("2001:0DB8:0:0:0:0:0:01", 65_535))).toBe("[2001:db8::1]:65535");
});

test("an IPv4 client of a dual-stack socket gets its IPv4 address", () => {
  expect(peerText(inet6("::ffff:192.0.2.7", 80))).toBe("192.0.2.7:80");
});

test("bytes behind the socket address are ignored", () => {
  const name = new Uint8Array(28).fill(9);
  name.set(inet("192.0.2.7", 80));
  expect(peerText(name)).toBe("192.0.2.7:80");
});

test("a socket address in the middle of a buffer is read from its own offset", () => {
  const memory = new Uint8Array(64);
  memory.set(inet6("2001:db8::1", 80), 16);
  expect(peerText(memory.subarray(16, 44))).toBe("[2001:db8::1]:80");
});
