// The manifest: what the host keeps of an instance, as a file that is enough to start it without a control plane.
import * as z from "zod/mini";
import { engineNameSchema } from "./engine-names.ts";
import { exposureSchema, instanceSpecSchema } from "./instance-spec.ts";
import { fromFormat1 } from "./manifest-format-1.ts";
import { ContractError, readAs, readJsonAs } from "./read.ts";
import { sleepRecordSchema } from "./sleep.ts";

/** The format that is written. */
export const MANIFEST_FORMAT = 2;

export const manifestSchema = z.strictObject({
  spec: instanceSpecSchema,
  wish: z.enum(["present", "removed"]),
  /** The engine and the major version that the data was made with; others might not read it. */
  engine: z.strictObject({ name: engineNameSchema, major: z.string() }),
  adminPassword: z.string(),
  /**
   * The user that the instance has for life where the host can give it one of its own; null where it cannot, and for instances of
   * earlier releases, whose user follows from their port.
   */
  uid: z.nullable(z.int()),
  /** The spec took the place of another, with which an engine was started that may still run. */
  isReplaced: z.boolean(),
  /** Who listens at the port since the latest start; the wish for it takes effect at the next one. */
  servedThrough: exposureSchema.shape.through,
  /** Whether the users and databases of the spec are in the data as it was left by a clean stop, so that the next start need not bring them there. */
  isSettled: z.boolean(),
  /** Names of the databases that the API made; null of a Pilvi that kept no record of them. */
  madeDatabases: z.nullable(z.array(z.string())),
  sleep: sleepRecordSchema,
});

/** What the host keeps of an instance. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A newer Pilvi wrote the manifest, in a format that this one does not know. */
export class NewerManifest extends ContractError {
  override name = "NewerManifest";
}

/** A manifest as a file has it; without a format it is of format 1. */
const fileSchema = z.looseObject({ format: z._default(z.int().check(z.positive()), 1) });

/** The text of the file. */
export function manifestText(manifest: Manifest): string {
  return JSON.stringify({ format: MANIFEST_FORMAT, ...manifest });
}

/**
 * Reads the text of the file, of this format or an earlier one.
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
