// What is printed of the steps of a deployment from one reading of its log to the next.
import { expect, test } from "bun:test";
import type { DeploymentLog } from "../../sdk/index.ts";
import { StepPrinter } from "./steps.ts";

type Step = DeploymentLog["data"]["build"]["steps"][number];

/** A reading of a log whose build has one step; null for a build that has not begun. */
function reading(step: Partial<Step> | null): DeploymentLog {
  const whole: Step = { step: "build", status: "running", description: "make", ...step };
  return {
    data: {
      build: { available: true, steps: step === null ? [] : [whole] },
      deploy: { available: false, steps: [] },
    },
    meta: { deployment_status: "build.running" },
  };
}

/** All that is printed of readings. */
function printed(...readings: (Partial<Step> | null)[]): string {
  let text = "";
  const printer = new StepPrinter((part) => (text += part));
  for (const each of readings) printer.show(reading(each));
  return text;
}

test("each line is printed once, as soon as it is whole", () => {
  const readings = [
    { output: "one\ntw" },
    { output: "one\ntwo\n" },
    { output: "one\ntwo\n", status: "finished" as const },
  ];
  expect(printed(...readings)).toBe("build: make\n  one\n  two\n  done\n");
});

test("a build that begins anew with an empty log is printed anew", () => {
  const readings = [
    { output: "first line\nsecond line\n" },
    null,
    { output: "" },
    { output: "first line\nother line\n" },
  ];
  expect(printed(...readings)).toBe(
    "build: make\n  first line\n  second line\nbuild: make\n  first line\n  other line\n",
  );
});

test("a build that begins anew and is longer by the next reading is printed anew", () => {
  const readings = [{ output: "one\n" }, { output: "two\nand a third line\n" }];
  expect(printed(...readings)).toBe("build: make\n  one\nbuild: make\n  two\n  and a third line\n");
});

test("a step that runs again after its end is printed anew", () => {
  const readings = [{ output: "one\n", status: "finished" as const }, { output: "" }, { output: "one\n" }];
  expect(printed(...readings)).toBe("build: make\n  one\n  done\nbuild: make\n  one\n");
});
