// Pilvi stops cleanly by any signal, and at any moment of its start.
import { test } from "bun:test";
import { expectStop, expectStopBy } from "../e2e/process/interrupted-start.ts";

test.each(["SIGTERM", "SIGHUP"] as const)("%s, even when it comes twice", expectStopBy);

test.each([100, 400, 700, 1_000, 1_200, 1_600])("%i ms after the start", expectStop);
