// A text in parts, as the data of attacks give it: a part with a number is repeated so often.
import * as z from "zod/mini";

export const partSchema = z.union([z.string(), z.tuple([z.string(), z.int()])]);
export type Part = z.infer<typeof partSchema>;

/** Joins the parts of a text. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");
}
