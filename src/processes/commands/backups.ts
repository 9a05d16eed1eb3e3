// `pilvi backups check`: has the keeper of this machine read every object of every target back.
import type { Config } from "../../config.ts";
import type { CheckLine } from "../../contracts/keeper.ts";
import { processIo } from "../../cli/index.ts";
import { bytesText } from "../../cli/shared/details.ts";
import { KeeperClient, KeeperUnreachable } from "../../host/backups/keeper-client.ts";
import { keeperSocket } from "../../host/os/layout.ts";
import { Refusal } from "../../lib/errors.ts";

type Sum = Pick<CheckLine & { type: "sum" }, "objects" | "bytes">;

/**
 * Prints each fault and the sum. Targets have the objects of all organizations, so only the user who runs Pilvi, who may
 * open the keeper's socket, gets this answer.
 * @returns the exit code: 1 when there are faults.
 * @throws Refusal when the keeper does not answer to the end.
 */
export async function checkBackupsCommand({ dataDir }: Config): Promise<number> {
  const io = processIo();
  const show = (line: string) => io.isErrTerminal && io.redraw(line);
  show("Reading all backups");
  try {
    for await (const line of new KeeperClient(keeperSocket(dataDir)).check()) {
      if (line.type === "progress") {
        show(`Reading all backups: ${amountOf(line)} so far`);
        continue;
      }
      show("");
      if (line.type === "fault") io.out(`${faultText(line)}\n`);
      else return ended(line, io.out);
    }
  } catch (error) {
    if (error instanceof KeeperUnreachable) throw notReached(error);
    throw error;
  }
  throw notReached(new Error("the answer has no sum"));
}

/** Prints the sum. @returns the exit code. */
function ended(sum: CheckLine & { type: "sum" }, out: (text: string) => void): number {
  const { faults } = sum;
  const found = faults === 0 ? "no faults" : `${faults} ${faults === 1 ? "fault" : "faults"}`;
  out(`${amountOf(sum)} read back: ${found}.\n`);
  return faults === 0 ? 0 : 1;
}

function faultText({ target, name, message }: CheckLine & { type: "fault" }): string {
  return name === "" ? `${target}: ${message}` : `${target}/${name}: ${message}`;
}

function amountOf({ objects, bytes }: Sum): string {
  return `${objects} ${objects === 1 ? "object" : "objects"}, ${bytesText(bytes)}`;
}

function notReached(cause: unknown): Refusal {
  return new Refusal(
    "The keeper of backups does not answer. Run this as the user who runs Pilvi, while Pilvi runs.",
    cause,
  );
}
