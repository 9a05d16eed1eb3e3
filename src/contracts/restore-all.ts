// The file of a restore of everything: how far it is, so that the same command goes on after a kill.
import * as z from "zod/mini";

const resourceSchema = z.strictObject({
  kind: z.enum(["caches", "databases", "websockets"]),
  id: z.string(),
  name: z.string(),
  /** The moment that its data is from, ISO 8601; null for a resource that begins empty. */
  at: z.nullable(z.string()),
});

/** A resource that comes back. */
export type RestoredResource = z.infer<typeof resourceSchema>;

export const restoreStateSchema = z.discriminatedUnion("stage", [
  /** The store is being restored; its rows are those of before. */
  z.strictObject({ stage: z.literal("store"), startedAt: z.string() }),
  /** The rows say what is to be restored, and the control plane does it. */
  z.strictObject({
    stage: z.literal("resources"),
    startedAt: z.string(),
    resources: z.array(resourceSchema),
    /** What comes back, but not as it was, as sentences. */
    losses: z.array(z.string()),
    /** What does not come back, as sentences; a file of an earlier release has none. */
    lost: z._default(z.array(z.string()), []),
  }),
]);

export type RestoreState = z.infer<typeof restoreStateSchema>;
