// Operations that are still served but should no longer be used, and the headers of their answers.
import { z } from "zod";
import { addressOf } from "./address.ts";

/** The successor of an operation, and the time for clients to change over. */
export interface Deprecation {
  /** The day from which the operation should not be used. */
  since: Date;
  /** After this time it may be gone. */
  sunset: Date;
  /** The path of the operation that does the same, such as `/databases/clusters/:id`. */
  successor: string;
}

/** The headers of every answer of a deprecated operation: RFC 9745, RFC 8594 and RFC 5829. */
export function deprecationHeaders(
  { since, sunset, successor }: Deprecation,
  params: Record<string, string>,
): Record<string, string> {
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    Sunset: sunset.toUTCString(),
    Link: `<${addressOf(successor, params)}>; rel="successor-version"`,
  };
}

/** The same headers for the documentation. */
export function deprecationHeaderSchemas({
  since,
  sunset,
  successor,
}: Deprecation): Record<string, z.ZodType> {
  const { Deprecation, Sunset, Link } = deprecationHeaders({ since, sunset, successor }, {});
  return {
    Deprecation: z
      .string()
      .meta({ description: "The time of the deprecation, in seconds since 1970.", example: Deprecation }),
    Sunset: z
      .string()
      .meta({ description: "The time after which the operation may be gone.", example: Sunset }),
    Link: z.string().meta({ description: "The address to use instead.", example: Link }),
  };
}
