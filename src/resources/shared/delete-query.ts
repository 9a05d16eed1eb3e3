// The query of a request to delete an instance.
import { z } from "zod";

/** Whether the backups go as well. */
export const deletionQuery = z.object({
  purge: z.enum(["true", "false"]).optional().meta({
    description:
      "Whether all backups are deleted as well; otherwise they are kept for their retention, and snapshots until they are deleted.",
    example: "false",
  }),
});
