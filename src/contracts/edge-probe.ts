// A request that the host itself sends through the edge, to learn which instance answers a name.
import * as z from "zod/mini";
import { edgeNameSchema } from "./edge-route.ts";

/** The longest time that a probe may take, in seconds. */
const MAX_PROBE_SECONDS = 120;

export const edgeProbeSchema = z.strictObject({
  name: edgeNameSchema,
  /** The path and the query of the request. */
  path: z.string().check(z.maxLength(1_024), z.regex(/^\/[\x21-\x7e]*$/)),
  timeoutSeconds: z.int().check(z.minimum(1), z.maximum(MAX_PROBE_SECONDS)),
});

/** What is asked. */
export type EdgeProbe = z.infer<typeof edgeProbeSchema>;

export const edgeAnswerSchema = z.strictObject({
  status: z.int(),
  /** The port of the instance that has answered; null when the edge answered by itself. */
  port: z.nullable(z.int()),
});

/** The answer to a probe. */
export type EdgeAnswer = z.infer<typeof edgeAnswerSchema>;
