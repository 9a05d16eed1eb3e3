// The values that are suggested for an unknown text.
import { expect, test } from "bun:test";
import { nearest } from "./nearest.ts";

const SIZES = ["mysql-flex-512mb", "mysql-flex-1gb", "mysql-pro-4gb", "db-flex.m-1vcpu-512mb"];

test.each([
  ["mysql-flex-512", ["mysql-flex-512mb", "mysql-flex-1gb"]],
  ["MySQL-flex-1GB", ["mysql-flex-1gb", "mysql-flex-512mb"]],
  ["512mb", ["mysql-flex-512mb", "db-flex.m-1vcpu-512mb"]],
  ["mysql-pro-5gb", ["mysql-pro-4gb"]],
  ["gb", []],
  ["large", []],
  ["", []],
])("%p resembles %p", (text, expected) => {
  expect(nearest(text, SIZES)).toEqual(expected);
});

test("three values are suggested at most", () => {
  expect(nearest("size-x", ["size-1", "size-2", "size-3", "size-4"])).toEqual(["size-1", "size-2", "size-3"]);
});

test("a text of a million characters is answered at once, without a suggestion", () => {
  expect(nearest("mysql-flex-512mb".repeat(100_000), SIZES)).toEqual([]);
});
