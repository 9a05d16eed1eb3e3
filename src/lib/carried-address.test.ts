// Which forms of IPv6 carry an address of IPv4.
import { expect, test } from "bun:test";
import { carriedAddress } from "./carried-address.ts";

test.each([
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["::ffff:a01:203", "10.1.2.3"],
  ["64:ff9b::169.254.169.254", "169.254.169.254"],
  ["2002:7f00:1::1", "127.0.0.1"],
  ["10.1.2.3", null],
  ["2606:4700::1111", null],
  ["::1", null],
  ["example.com", null],
])("%s carries %p", (address, carried) => {
  expect(carriedAddress(address)).toBe(carried);
});
