// The file in which a host notes that it ends the engine of an instance, for the host after it.
import * as z from "zod/mini";

export const endOrderSchema = z.strictObject({
  /** Whether no host starts the instance again until it is ordered to run; otherwise another process follows. */
  isFinal: z.boolean(),
  /** The process to end, by its number and its start; null when none ran. */
  process: z.nullable(z.string()),
  /** When it is killed, in milliseconds since the machine was started; null as long as it was not asked to end. */
  killAtUpMs: z.nullable(z.number()),
});

export type EndOrderRecord = z.infer<typeof endOrderSchema>;
