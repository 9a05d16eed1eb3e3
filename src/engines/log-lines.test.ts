// Lines of the logs of all engines.
import { expect, test } from "bun:test";
import { readLogLine as mariadb } from "./mariadb/log-line.ts";
import { readLogLine as postgres } from "./postgres/log-line.ts";
import { readLogLine as realtime } from "./realtime/log-line.ts";
import { readLogLine as redis } from "./redis/log-line.ts";

const AT = Date.UTC(2026, 2, 5, 8, 16, 12);
const read = {
  "2026-03-05 08:16:12.345 UTC [4] FATAL:  no": postgres,
  "2026-03-05 08:16:12.345 UTC [4] DEBUG1:  x": postgres,
  "2026-03-05  8:16:12 0 [Warning] Aborted connection 5": mariadb,
  "4:M 05 Mar 2026 08:16:12.345 # Memory is short": redis,
  "4:M 5 Mar 2026 08:16:12.345 * Ready": redis,
  '{"level":"warn","time":"2026-03-05T08:16:12.345Z","process":"realtime","port":1,"msg":"full"}': realtime,
};

test("time, level and message of a line are read", () => {
  const lines = Object.entries(read).map(([text, readLine]) => readLine(text));
  expect(lines.map(({ level }) => level)).toEqual([
    "error",
    "debug",
    "warning",
    "warning",
    "info",
    "warning",
  ]);
  expect(lines.map(({ atMs }) => atMs && atMs - (atMs % 1000))).toEqual(lines.map(() => AT));
  expect(lines.map(({ message }) => message)).toEqual([
    "[4] FATAL:  no",
    "[4] DEBUG1:  x",
    "0 [Warning] Aborted connection 5",
    "4:M Memory is short",
    "4:M Ready",
    'full {"port":1}',
  ]);
});

test("a line in any other form is shown as it is", () => {
  for (const readLine of [postgres, mariadb, redis, realtime])
    for (const text of [
      "",
      "\t at x",
      '{"level":1}',
      "{",
      "2026-99-99 99:99:99.999 UTC [1] LOG:  x".slice(0, 20),
    ])
      expect(readLine(text)).toEqual({ atMs: null, level: "info", message: text });
});
