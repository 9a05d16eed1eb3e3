// The object `pilvi-target.json`: says that a place is a target of Pilvi, and proves that the key is the right one.
import * as z from "zod/mini";
import { readJsonAs } from "../../contracts/read.ts";
import type { Sealer } from "../envelope.ts";
import { DamagedObject, MissingObject, WrongKey } from "../object-store.ts";
import { TargetError, type Target } from "./target.ts";

export const TARGET_OBJECT = "pilvi-target.json";

const FORMAT = 1;
const PROOF = new TextEncoder().encode("a target of Pilvi");

/** In clear, so that people and later releases can read what the place is. */
const targetSchema = z.looseObject({ format: z.int(), keyId: z.string(), check: z.string() });

/**
 * Makes sure that a place is a target for this key.
 * @param wasUsed whether this Pilvi has used the target before; then an empty place is a disk that is not mounted.
 * @throws WrongKey, DamagedObject, TargetError.
 */
export async function openTarget(target: Target, sealer: Sealer, wasUsed: boolean): Promise<void> {
  const found = await target.read(TARGET_OBJECT).catch((error: unknown) => {
    if (error instanceof MissingObject) return null;
    throw error;
  });
  if (found !== null) return await check(target, sealer, found);
  if (wasUsed)
    throw new TargetError(target.name, "is empty although it had backups: its disk may be missing");
  const proof = await sealer.seal(TARGET_OBJECT, PROOF);
  const content = { format: FORMAT, keyId: sealer.keyId, check: Buffer.from(proof).toString("base64") };
  await target.write(TARGET_OBJECT, new TextEncoder().encode(`${JSON.stringify(content)}\n`));
}

async function check(target: Target, sealer: Sealer, found: Uint8Array): Promise<void> {
  const { format, keyId, check: proof } = contentOf(found);
  if (format > FORMAT) throw new TargetError(target.name, "was written by a newer Pilvi");
  if (keyId !== sealer.keyId) throw new WrongKey(`${TARGET_OBJECT} of ${target.name}`);
  await sealer.open(TARGET_OBJECT, Buffer.from(proof, "base64"));
}

function contentOf(found: Uint8Array): z.infer<typeof targetSchema> {
  try {
    return readJsonAs(targetSchema, new TextDecoder().decode(found), "It");
  } catch {
    throw new DamagedObject(TARGET_OBJECT, "it cannot be read");
  }
}
