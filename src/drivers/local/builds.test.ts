// Orders of builds to a host that takes them, and to hosts that cannot take them now.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSpec } from "../../../tests/support/applications/host.ts";
import { BusyError, PublicError, UnreachableError } from "../../lib/errors.ts";
import type { Driver } from "../driver.ts";
import { localDriver } from "./index.ts";

/** The driver of a host that reads an order, and then answers so. */
async function ordering(answer: () => Response, source: ReadableStream<Uint8Array>): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-driver-"));
  const unix = join(folder, "host.sock");
  const fetch = async (request: Request) => {
    await request.bytes();
    return answer();
  };
  const server = Bun.serve({ unix, fetch });
  try {
    const driver: Driver = localDriver(unix);
    return await driver.build(buildSpec({}), source).catch((error: unknown) => error);
  } finally {
    await server.stop(true);
    rmSync(folder, { recursive: true });
  }
}

/** A source that breaks off with an error after some bytes. */
function breakingOff(error: Error): ReadableStream<Uint8Array> {
  let pieces = 0;
  return new ReadableStream({
    pull: (controller) => {
      pieces += 1;
      if (pieces > 3) throw error;
      controller.enqueue(new Uint8Array(100_000));
    },
  });
}

const refused = (status: number) => () => Response.json({ message: "Not now." }, { status });

test("a source that breaks off with a sentence for the customer ends the order with that sentence", async () => {
  const refusal = new PublicError("The files of the commit cannot be read.");
  expect(await ordering(refused(500), breakingOff(refusal))).toBe(refusal);
});

test("a source that breaks off with a fault of Pilvi's own lets the order be made again", async () => {
  expect(await ordering(refused(500), breakingOff(new Error("no memory")))).toBeInstanceOf(UnreachableError);
});

test("the answers of a busy host and of a host that refuses become different errors", async () => {
  const busy = await ordering(refused(503), new Blob(["x"]).stream());
  expect(busy).toBeInstanceOf(BusyError);
  expect(busy).toMatchObject({ message: "Not now." });
  expect(await ordering(refused(500), new Blob(["x"]).stream())).not.toBeInstanceOf(BusyError);
});

test("a host that ends in the middle of its answer does not answer", async () => {
  const answer = '{"version":1,"id":';
  expect(await ordering(() => new Response(answer), new Blob(["x"]).stream())).toBeInstanceOf(
    UnreachableError,
  );
});
