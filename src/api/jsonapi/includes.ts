// Related resources in an answer: `include=a,b`.
import { ApiError, quoted } from "./errors.ts";

/**
 * Reads the parameter `include`, which may come more than once.
 * @param allowed undefined when the operation does not know the parameter, which is then ignored.
 * @throws ApiError 400 naming the allowed values.
 */
export function readIncludes(query: URLSearchParams, allowed: readonly string[] | undefined): string[] {
  if (allowed === undefined) return [];
  const named = query.getAll("include").flatMap((text) => text.split(","));
  const wanted = [...new Set(named)].filter((name) => name !== "");
  const unknown = wanted.filter((name) => !allowed.includes(name));
  if (unknown.length === 0) return wanted;
  throw new ApiError(400, `Unknown include: ${quoted(unknown)}. This answer can include ${quoted(allowed)}.`);
}
