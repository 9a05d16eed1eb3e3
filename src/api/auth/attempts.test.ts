// Guesses of passwords are slowed down by a clock that is never set.
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { ApiError } from "../jsonapi/errors.ts";
import { Attempts } from "./attempts.ts";

const FREE_FAILURES = 5;
const LONGEST_WAIT_SECONDS = 300;

afterEach(() => {
  setSystemTime();
});

function refusalOf(attempts: Attempts): unknown {
  try {
    return void attempts.begin("ada", "");
  } catch (error) {
    return error;
  }
}

test("a clock of the machine that goes back lengthens no wait, and a clock that goes on shortens none", () => {
  const attempts = new Attempts();
  for (let count = 0; count < FREE_FAILURES; count += 1) expect(refusalOf(attempts)).toBeUndefined();
  for (const hours of [-1, 1]) {
    setSystemTime(Date.now() + hours * 3_600_000);
    const refusal = refusalOf(attempts);
    expect(refusal).toBeInstanceOf(ApiError);
    const wait = Number((refusal as ApiError).headers["Retry-After"]);
    expect(wait).toBeWithin(1, LONGEST_WAIT_SECONDS);
    setSystemTime();
  }
});
