// The envelope of answers: JSON:API documents with data, included, relationships, links and meta.
import { z } from "zod";

/** The content type of answers that carry resources. */
export const JSON_API = "application/vnd.api+json";

/** The schema of a reference to another resource. */
export function resourceIdentifier<Type extends string>(type: Type) {
  return z.object({ id: z.string().meta({ description: "The id of the resource." }), type: z.literal(type) });
}

const anyResource = z.looseObject({ id: z.string(), type: z.string() });

/** Related resources, which a client asks for with `?include=`. */
function included<Related extends z.ZodType>(related: Related) {
  return z
    .array(related)
    .optional()
    .meta({ description: "The related resources that were asked for.", example: [] });
}

/**
 * The schema of an answer with one resource.
 * @param related the schema of resources that it may include.
 */
export function singleDocument<Resource extends z.ZodType>(
  resource: Resource,
  related: z.ZodType = anyResource,
) {
  return z.object({ data: resource, included: included(related) });
}

const url = z.string();

const pageLinks = z
  .object({ first: url, last: url, prev: url.optional(), next: url.optional() })
  .meta({ id: "PageLinks", description: "Absolute; `prev` and `next` are absent where there is none." });

const pageMeta = z
  .object({
    current_page: z.int().min(1),
    from: z.int().min(1).nullable().meta({ description: "Number of the first resource on this page." }),
    last_page: z.int().min(1),
    links: z.array(z.object({ url: url.nullable(), label: z.string(), active: z.boolean() })),
    path: url.meta({ description: "The list's address without a query." }),
    per_page: z.int().min(1).max(100),
    to: z.int().min(1).nullable().meta({ description: "Number of the last resource on this page." }),
    total: z.int().min(0).meta({ description: "The number of resources on all pages." }),
  })
  .meta({ id: "PageMeta" });

/** The schema of an answer with a page of resources, and with the resources that they may include. */
export function listDocument<Resource extends z.ZodType>(
  resource: Resource,
  related: z.ZodType = anyResource,
) {
  return z.object({
    data: z.array(resource),
    links: pageLinks,
    meta: pageMeta,
    included: included(related),
  });
}
