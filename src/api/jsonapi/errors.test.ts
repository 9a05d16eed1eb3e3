// The answers to a client about errors of the store, and of parts of Pilvi that are away.
import { expect, test } from "bun:test";
import { BusyError, PublicError, UnreachableError } from "../../lib/errors.ts";
import { apiErrorOf } from "./errors.ts";

/** An error of Postgres as Bun's client throws it. */
function postgresError(state: string): Error {
  return Object.assign(new Error("the store complains"), { code: "ERR_POSTGRES_SERVER_ERROR", errno: state });
}

test.each([
  ["a lost connection", "08006"],
  ["a shutdown", "57P01"],
  ["a full disk", "53100"],
  ["no memory", "53200"],
  ["no connection left", "53300"],
])("%s passes, and a client may try again", (_what, state) => {
  const { status, headers } = apiErrorOf(postgresError(state));
  expect([status, headers]).toEqual([503, { "Retry-After": "2" }]);
});

test.each([
  ["a syntax error", "42601"],
  ["a broken constraint", "23505"],
])("%s is a fault of ours", (_what, state) => {
  expect(apiErrorOf(postgresError(state)).status).toBe(500);
});

test.each([
  ["a part of Pilvi that does not answer", new UnreachableError("The host of this machine does not answer.")],
  ["a part of Pilvi without room", new BusyError("Too many builds wait on this host.")],
])("%s passes with its own sentence, and a client may try again", (_what, error) => {
  const { status, headers, message } = apiErrorOf(error);
  expect([status, headers, message]).toEqual([503, { "Retry-After": "2" }, error.message]);
});

test("any other error of a part of Pilvi is a fault of ours, and keeps its sentence for the log", () => {
  const { status, message } = apiErrorOf(new PublicError("The host of this machine failed."));
  expect([status, message]).toEqual([500, expect.stringContaining("request id")]);
});
