// The manifest: the file that holds all that the host keeps of an instance, enough to start it without a control plane.
import * as z from "zod/mini";
import { engineNameSchema } from "./engine-names.ts";
import { exposureSchema, instanceSpecSchema } from "./instance-spec.ts";
import { fromFormat1 } from "./manifest-format-1.ts";
import { ContractError, readAs, readJsonAs } from "./read.ts";
import { sleepRecordSchema } from "./sleep.ts";

/**
 * The format that is written. Format 2 had neither origins nor logs in its specs, nor failed restores, and format 3 no
 * applications, so both are read as they are.
 */
export const MANIFEST_FORMAT = 4;

const persistedStateSchema = z.enum(["awake", "changed", "asleep", "asleepApplied", "removing"]);

/**
 * The state of an instance as the manifest keeps it.
 * - `awake`: it runs, or is to run.
 * - `changed`: as `awake`, and an engine that was started with an earlier spec may still run.
 * - `asleep`: only a client or a change that needs the engine starts it; the engine may still be in the middle of its
 *   stop.
 * - `asleepApplied`: as `asleep`, and a clean stop left the data with the users, databases and kept log of the spec, so
 *   the next start need not apply them.
 * - `removing`: it is being deleted.
 */
export type PersistedState = z.infer<typeof persistedStateSchema>;

const manifestSchema = z.strictObject({
  spec: instanceSpecSchema,
  /** The state of the lifecycle, as far as a later host cannot find it out from the kernel. */
  state: persistedStateSchema,
  /** The engine and the major version that made the data; others might not read it. */
  engine: z.strictObject({ name: engineNameSchema, major: z.string() }),
  adminPassword: z.string(),
  /**
   * The user that the instance keeps for life, where the host can give each instance its own; null where it cannot, and
   * for instances of earlier releases, whose user derives from their port.
   */
  uid: z.nullable(z.int()),
  /**
   * The listener that has the port: the spec's own `exposure.through` as of the latest start or hand-over, whatever the
   * state is since. A later host holds the address for that listener, with clients in line, before any start.
   */
  servedThrough: exposureSchema.shape.through,
  /** Names of the databases that the API made; null when an earlier Pilvi kept no record of them. */
  madeDatabases: z.nullable(z.array(z.string())),
  sleep: sleepRecordSchema,
  /**
   * That its data is from its origin, and that the databases of its spec are those of its first spec still: a database
   * of these that is missing was not in the data. Left out otherwise.
   */
  isRestored: z.exactOptional(z.literal(true)),
  /** The instance whose data it has taken last, or that its first spec named; left out when there was none. */
  adopted: z.exactOptional(z.string()),
  /** Why its origin cannot be restored, as a sentence; left out unless that is so. */
  restoreFailed: z.exactOptional(z.string()),
});

/** What the host keeps of an instance. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A newer Pilvi wrote the manifest, in an unknown format. */
export class NewerManifest extends ContractError {
  override name = "NewerManifest";
}

/** A manifest in its file; a file without a format is of format 1. */
const fileSchema = z.looseObject({ format: z._default(z.int().check(z.positive()), 1) });

/** The text of the file. */
export function manifestText(manifest: Manifest): string {
  return JSON.stringify({ format: MANIFEST_FORMAT, ...manifest });
}

/**
 * Reads the text of the file, of this format or an earlier format.
 * @throws ContractError that names what is wrong with it, NewerManifest when a newer Pilvi wrote it.
 */
export function manifestFrom(text: string): Manifest {
  const { format, ...members } = readJsonAs(fileSchema, text, "The manifest");
  if (format > MANIFEST_FORMAT) {
    throw new NewerManifest(
      `The manifest was written by a newer Pilvi (format ${format}; this one knows ${MANIFEST_FORMAT}). ` +
        "Start that version or a later one; the data was left alone.",
    );
  }
  return readAs(manifestSchema, format === 1 ? fromFormat1(members) : members, "The manifest");
}
