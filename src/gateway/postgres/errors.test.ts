// Errors of the gateway itself, which drivers read like those of Postgres.
import { expect, test } from "bun:test";
import { wrongPassword } from "./errors.ts";

test("a wrong password is reported with the fields from which programs recognize it", () => {
  const fields = wrongPassword("ann").toBytes().toString("utf8", 5).split("\0");
  expect(fields).toEqual([
    "SFATAL",
    "VFATAL",
    "C28P01",
    'Mpassword authentication failed for user "ann"',
    "Fauth.c",
    "Rauth_failed",
    "",
    "",
  ]);
});
