// Programs of another user that try to take the addresses of instances, beside a test that kills their holders.
import { mkdtempSync, chmodSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { until } from "../pilvi/pilvi.ts";

const SOURCE = resolve(import.meta.dir, "thief.ts");
/** A user that owns nothing of Pilvi. */
const OTHER_UID = 54_321;

export interface Thief {
  /** Every address that was bound, and how: `port at address with [socket options]`. */
  readonly loot: Set<string>;
  /** Resolves when every address was tried in every way once more. */
  round(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Begins to bind ports in every way, over and over; resolves after the first complete round.
 * @param bun a runtime that another user can run.
 */
export async function startThief(bun: string, ports: number[]): Promise<Thief> {
  // The checkout may be closed to other users.
  const folder = mkdtempSync(join(tmpdir(), "pilvi-thief-"));
  chmodSync(folder, 0o755);
  const { outputs } = await Bun.build({ entrypoints: [SOURCE], outdir: folder, target: "bun" });
  const child = Bun.spawn([bun, outputs[0]?.path ?? "", ...ports.map(String)], {
    cwd: "/",
    stdio: ["ignore", "pipe", "inherit"],
    ...(process.getuid?.() === 0 ? { uid: OTHER_UID, gid: OTHER_UID } : {}),
  });
  const loot = new Set<string>();
  let rounds = 0;
  void (async () => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "round") rounds += 1;
        else loot.add(line);
      }
    }
  })();
  const thief = {
    loot,
    round: async () => {
      const seen = rounds;
      // The round that was under way does not count.
      await until("the thief has tried everything", () => rounds >= seen + 2);
    },
    close: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await thief.round();
  return thief;
}
