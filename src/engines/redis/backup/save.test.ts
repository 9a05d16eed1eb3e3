// The save of a cache whose clients flush all keys again and again, which ends each save without a file.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import type { CacheSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { EngineContext } from "../../engine.ts";
import { SNAPSHOT } from "../persistence.ts";
import { save } from "./save.ts";

let folder: string;
let server: { stop(closesConnections: boolean): void };
let saves: number;
/** How many saves end without a file. */
let flushed: number;
/** Whether a save goes on. */
let isSaving: boolean;

beforeEach(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-save-"));
  saves = 0;
  flushed = Number.POSITIVE_INFINITY;
  isSaving = false;
  server = Bun.listen({
    unix: join(folder, "engine.sock"),
    socket: {
      data(socket, bytes) {
        for (const [, command = ""] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
          socket.write(answerTo(command.toUpperCase()));
      },
    },
  });
});

afterEach(() => {
  server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** What an engine answers whose saves end at once, each with the status `ok`. */
function answerTo(command: string): string {
  if (command === "HELLO") return "%1\r\n$5\r\nproto\r\n:3\r\n";
  if (command === "BGSAVE") {
    saves += 1;
    if (saves > flushed) writeFileSync(join(folder, SNAPSHOT), "keys");
    return "+Background saving started\r\n";
  }
  if (command !== "INFO") return "+OK\r\n";
  const info = `rdb_bgsave_in_progress:${isSaving ? 1 : 0}\r\nrdb_last_bgsave_status:ok\r\n`;
  return `$${info.length}\r\n${info}\r\n`;
}

function saved(signal = new AbortController().signal): Promise<string> {
  const paths = { socket: join(folder, "engine.sock"), dataDir: folder };
  return save({ paths, adminPassword: "secret" } as EngineContext<CacheSpec>, signal);
}

test("a save without a file is made again", async () => {
  flushed = 4;
  expect(Date.parse(await saved())).not.toBeNaN();
  expect(saves).toBe(5);
});

test("the fifth save without a file is the last", async () => {
  await expect(saved()).rejects.toThrow(
    new PublicError("Clients flush the cache all the time, so it could not be saved."),
  );
  expect(saves).toBe(5);
});

test("a save that goes on is given up at once", async () => {
  isSaving = true;
  const given = new AbortController();
  const saving = saved(given.signal);
  await until("the save has begun", () => saves === 1);
  given.abort(new PublicError("The backup is deleted."));
  await expect(saving).rejects.toThrow("The backup is deleted.");
});
