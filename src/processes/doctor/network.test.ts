// Ports of instances that the system may give to outgoing connections.
import { expect, test } from "bun:test";
import { mayGoOut } from "./network.ts";

const RANGE = { first: 20_000, last: 29_999 };

test("a range outside of the outgoing ports is never taken", () => {
  expect(mayGoOut(RANGE, "32768\t60999\n", "\n")).toBe(false);
  expect(mayGoOut(RANGE, "1024\t19999\n", "\n")).toBe(false);
});

test("a range that touches the outgoing ports may be taken", () => {
  expect(mayGoOut(RANGE, "29999\t60999\n", "\n")).toBe(true);
  expect(mayGoOut(RANGE, "1024\t20000\n", "\n")).toBe(true);
});

test("reserved ports go to no outgoing connection", () => {
  expect(mayGoOut(RANGE, "1024\t60999\n", "20000-29999\n")).toBe(false);
  expect(mayGoOut(RANGE, "1024\t60999\n", "8080,20000-24999,25000-29999\n")).toBe(false);
  expect(mayGoOut(RANGE, "29998\t60999\n", "29998,29999\n")).toBe(false);
  expect(mayGoOut(RANGE, "1024\t60999\n", "20000-29998\n")).toBe(true);
});
