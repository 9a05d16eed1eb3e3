// Filters of lists: `filter[type]=a,b` keeps the resources that have one of the values.
import { z } from "zod";
import { ApiError, quoted } from "./errors.ts";

/** A filter as a query member: values with commas between them, each out of an enumeration. */
function filter<Value extends string>(name: string, values: readonly Value[]) {
  const isValue = (text: string): text is Value => (values as readonly string[]).includes(text);
  return z
    .string()
    .transform((text, context): Value[] => {
      const wanted = text.split(",").filter((part) => part !== "");
      const known = wanted.filter(isValue);
      if (known.length < wanted.length) {
        context.issues.push({ code: "custom", input: text, message: `may have ${values.join(", ")} only` });
      }
      return [...new Set(known)];
    })
    .optional()
    .meta({
      description: `Only resources with one of these values of \`${name}\`.`,
      example: values.slice(0, 1),
      param: { style: "form", explode: false },
      override: { type: "array", items: { type: "string", enum: [...values] } },
    });
}

/** The bound of the text of a filter. */
const MAX_FILTER_LENGTH = 16_000;

/** A filter by an attribute with any text. @param what the attribute in the plural. */
export function textFilter(what: string, example: string) {
  return z
    .string()
    .max(MAX_FILTER_LENGTH)
    .transform((text) => [...new Set(text.split(",").filter((part) => part !== ""))])
    .optional()
    .meta({
      description: `Only resources with one of these ${what}.`,
      example: [example],
      param: { style: "form", explode: false },
      override: { type: "array", items: { type: "string" } },
    });
}

/** The query member for a filter by the attribute `name`. */
export const nameFilter = { "filter[name]": textFilter("names", "chat") };

/** The query member for a filter by the attribute `slug`. */
export const slugFilter = { "filter[slug]": textFilter("slugs", "web-shop") };

type FilterShape<Filters extends Record<string, readonly string[]>> = {
  [Name in keyof Filters & string as `filter[${Name}]`]: ReturnType<typeof filter<Filters[Name][number]>>;
};

/** The query members for filters by the attributes given, each with its possible values. */
export function filterQuery<const Filters extends Record<string, readonly string[]>>(
  filters: Filters,
): FilterShape<Filters> {
  const members = Object.entries(filters).map(([name, values]) => [`filter[${name}]`, filter(name, values)]);
  return Object.fromEntries(members) as FilterShape<Filters>;
}

/**
 * Refuses filters that a list does not have, which would otherwise be silently without effect.
 * @param known names of query members, such as `filter[type]`; those of a list have `per_page`.
 * @throws ApiError 400 naming the allowed filters.
 */
export function refuseUnknownFilters(query: URLSearchParams, known: string[]): void {
  const allowed = known.filter((key) => key.startsWith("filter["));
  if (allowed.length === 0 && !known.includes("per_page")) return;
  const unknown = [...query.keys()].filter((key) => /^filter(\[|$)/.test(key) && !allowed.includes(key));
  if (unknown.length === 0) return;
  const rest =
    allowed.length === 0 ? "This list has no filters." : `This list can be filtered by ${quoted(allowed)}.`;
  throw new ApiError(400, `Unknown filter: ${quoted(unknown)}. ${rest}`);
}
