// The variable parts of the paths of WebSocket clusters and applications.
import { z } from "zod";

export const webSocketClusterParams = z.object({
  id: z
    .string()
    .regex(/^ws-[0-9a-f-]{36}$/)
    .meta({ description: "The cluster's id.", example: "ws-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

export const applicationParams = z.object({
  id: z
    .string()
    .regex(/^wsa-[0-9a-f-]{36}$/)
    .meta({ description: "The application's id.", example: "wsa-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});
