// Whether the next start after a change of a sleeping instance brings its data to the spec.
import { expect, test } from "bun:test";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { sleepySpec } from "../test-support.ts";
import type { Manifest } from "./manifest.ts";
import { manifestFor } from "./spec-change.ts";

const POSTGRES: Manifest["engine"] = { name: "postgres", major: "18" };
const FORMER = sleepySpec("postgres");
const KEEPING = specWith({ keepsLog: true });

function specWith(changes: object): InstanceSpec {
  return { ...FORMER, ...changes };
}

/** The state of an instance that sleeps with all of a spec applied, after a change to another. */
function changed(before: InstanceSpec, after: InstanceSpec): Manifest["state"] {
  const former = manifestFor(before, POSTGRES, null, () => null);
  return manifestFor(after, POSTGRES, { ...former, state: "asleepApplied" }, () => null).state;
}

test("a backup window that is turned on or off during the sleep is applied by the next start", () => {
  expect(changed(KEEPING, FORMER)).toBe("asleep");
  expect(changed(FORMER, KEEPING)).toBe("asleep");
});

test("a change of what is not in the data leaves nothing to apply", () => {
  expect(changed(KEEPING, KEEPING)).toBe("asleepApplied");
  expect(changed(KEEPING, specWith({ keepsLog: true, sleepAfterSeconds: 120 }))).toBe("asleepApplied");
});
