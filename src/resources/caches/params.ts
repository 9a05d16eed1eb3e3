// The variable part of the paths of caches.
import { z } from "zod";

export const cacheParams = z.object({
  id: z
    .string()
    .regex(/^cache-[0-9a-f-]{36}$/)
    .meta({ description: "The cache's id.", example: "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});
