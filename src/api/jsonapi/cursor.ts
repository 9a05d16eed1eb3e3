// Lists that are read from the newest row on: pages without numbers, each of which costs the same.
import { z } from "zod";

const CURSOR = /^(\d{1,16})-(\d{1,18})$/;

/** The position of the next page: the time of the last row in microseconds since 1970, and its id. */
export interface Cursor {
  atMicros: string;
  id: string;
}

/** The query member for the position of a page. */
export const cursorQuery = {
  "page[cursor]": z
    .string()
    .regex(CURSOR, "must be the cursor of an earlier answer")
    .optional()
    .meta({
      description: "The start of the page: `meta.next_cursor` of the page before.",
      example: "1773562733204112-184",
      override: { pattern: undefined },
    }),
};

const cursorLinks = z
  .object({ first: z.string(), next: z.string().optional() })
  .meta({ id: "CursorLinks", description: "Absolute; `next` is absent on the last page." });

/** The schema of an answer with a page. */
export function cursorDocument<Resource extends z.ZodType>(resource: Resource) {
  return z.object({
    data: z.array(resource),
    links: cursorLinks,
    meta: z.object({
      per_page: z.int().min(1).max(100),
      next_cursor: z.string().nullable().meta({ description: "Null on the last page.", example: null }),
    }),
  });
}

/** The position that a validated query asks for; null is the beginning. */
export function cursorOf(text: string | undefined): Cursor | null {
  const [, atMicros, id] = CURSOR.exec(text ?? "") ?? [];
  return atMicros === undefined || id === undefined ? null : { atMicros, id };
}

/** The answer with a page. @param url the URL of the request; its other parameters are kept in the links. */
export function cursorPage<Resource>(
  url: URL,
  { size, next, data }: { size: number; next: Cursor | null; data: Resource[] },
) {
  const nextCursor = next && `${next.atMicros}-${next.id}`;
  return {
    data,
    links: { first: linkTo(url, null), ...(nextCursor !== null && { next: linkTo(url, nextCursor) }) },
    meta: { per_page: size, next_cursor: nextCursor },
  };
}

function linkTo(url: URL, cursor: string | null): string {
  const copy = new URL(url);
  if (cursor === null) copy.searchParams.delete("page[cursor]");
  else copy.searchParams.set("page[cursor]", cursor);
  return copy.href;
}
