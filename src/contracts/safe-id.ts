// The ids of instances, environments and releases, which are names of folders as well.
import * as z from "zod/mini";

/** Paths derive from ids, so an id is a safe name of a folder. */
export const safeIdSchema = z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/));
