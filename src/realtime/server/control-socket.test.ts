// The answer of the control socket to an order that fails.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realtimePath } from "../../contracts/versions.ts";
import type { Log } from "../../lib/line-log.ts";
import { serveControl } from "./control-socket.ts";

test("the cause of a server's error is in its log and not in its answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-control-"));
  const logged: Record<string, unknown>[] = [];
  const note = (about: Record<string, unknown>) => void logged.push(about);
  const log: Log = { info: note, warn: note, error: note, child: () => log };
  const fail = () => {
    throw new Error(`ENOENT: no such file or directory, open '${folder}/certificate'`);
  };
  const unix = join(folder, "control.sock");
  const stop = serveControl({ configure: fail, stats: fail, debug: fail }, unix, log);
  try {
    const response = await fetch(`http://localhost${realtimePath("/stats")}`, { unix });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: "The realtime server failed; its log says why." });
    expect(logged).toEqual([
      { error: expect.objectContaining({ message: expect.stringContaining("ENOENT") }) },
    ]);
  } finally {
    await stop();
    rmSync(folder, { recursive: true });
  }
});
