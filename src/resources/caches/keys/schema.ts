// The shape of a cache's keys in requests and answers.
import { z } from "zod";

/** The types of keys that a list can be filtered by. */
const keyTypes = ["string", "list", "set", "zset", "hash", "stream"] as const;

/** The longest name, in bytes, by which a key is read or deleted: an address has no room for longer names. */
const MAX_KEY_BYTES = 4096;

/** The most keys that a page aims at, and the most elements of a value. */
const MAX_COUNT = 100;
const COUNT = 50;

const text = z
  .object({
    text: z.string().meta({ example: "session:42" }),
    encoding: z.enum(["utf8", "base64"]).meta({ description: "`base64` where the bytes are no UTF-8." }),
    bytes: z.int().min(0).meta({ description: "The length of the whole.", example: 10 }),
    is_cut: z.boolean().meta({ description: "Whether `text` is only the beginning.", example: false }),
  })
  .meta({ id: "CacheText" });

export type KeyText = z.output<typeof text>;

const about = {
  key: text,
  type: z.string().meta({ description: "`none` for a key that is gone meanwhile.", example: "hash" }),
  ttl_ms: z.int().nullable().meta({ description: "Null for a key that never expires.", example: 60_000 }),
  size_bytes: z
    .int()
    .nullable()
    .meta({ description: "Memory, estimated from a few elements; null where it is unknown.", example: 104 }),
};

const listed = z.object(about).meta({ id: "CacheKey" });

export type ListedKey = z.output<typeof listed>;

const element = z
  .object({
    id: z.string().optional().meta({ description: "Of an entry of a stream.", example: "1526919030474-55" }),
    field: text.optional().meta({ description: "Of a hash, and of an entry of a stream." }),
    value: text,
    score: z.string().optional().meta({ description: "Of a member of a sorted set.", example: "1.5" }),
  })
  .meta({ id: "CacheElement" });

export type KeyElement = z.output<typeof element>;

export const keyParams = z.object({
  key: z
    .string()
    .min(1)
    .max(MAX_KEY_BYTES * 2)
    .meta({ description: "The name of the key.", example: "session:42" }),
});

const wake = z.enum(["", "1", "true"]).optional().meta({
  description:
    "Wakes a cache that sleeps. Without it such a cache is answered 409, since waking costs time awake.",
  example: "true",
});

const encoding = z.enum(["utf8", "base64"]).default("utf8").meta({
  description: "How the name of the key stands in the address.",
  example: "utf8",
});

const count = (description: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .refine((number) => number >= 1 && number <= MAX_COUNT, `may be 1 to ${MAX_COUNT}`)
    .default(COUNT)
    .meta({
      description,
      example: COUNT,
      override: { type: "integer", minimum: 1, maximum: MAX_COUNT, default: COUNT },
    });

const position = (description: string) =>
  z
    .string()
    .regex(/^\d{1,20}(-\d{1,20}|\.[0-9a-f]{16})?$/, "must be the cursor of an earlier answer")
    .optional()
    .meta({ description, example: "1024.3f9ac2d1b0e84a57", override: { pattern: undefined } });

export const keysQuery = z.object({
  match: z.string().max(1000).optional().meta({
    description: "Only keys with names like this: `*` is any text, `?` any character, `[ab]` one of these.",
    example: "session:*",
  }),
  type: z.enum(keyTypes).optional().meta({ description: "Only keys of this type.", example: "hash" }),
  cursor: position(
    "The start of the page: `meta.cursor` of the page before. Refused after another start of the cache, which has another order of keys.",
  ),
  count: count("How many keys a page aims at; it may have more or fewer."),
  wake,
});

export type KeysQuery = z.output<typeof keysQuery>;

export const keyQuery = z.object({
  encoding,
  cursor: position("Where to go on in the value: `meta.cursor` of the part before."),
  count: count("How many elements at most; of a small hash or set all come at once."),
  wake,
});

export type KeyQuery = z.output<typeof keyQuery>;

export const keyDeletionQuery = z.object({ encoding, wake });

const cursor = z
  .string()
  .nullable()
  .meta({ description: "Where to go on; null at the end.", example: "1024.3f9ac2d1b0e84a57" });

export const keysDocument = z
  .object({ data: z.array(listed), meta: z.object({ cursor }) })
  .meta({ id: "CacheKeys", description: "An empty page whose cursor is not null is not the end." });

export type KeysDocument = z.output<typeof keysDocument>;

export const keyDocument = z
  .object({
    data: z.object({
      ...about,
      length: z
        .int()
        .nullable()
        .meta({ description: "Bytes of a string, elements of all else.", example: 3 }),
      elements: z.array(element).meta({ description: "A part of the value; of a string one element." }),
      is_too_large: z.boolean().meta({
        description: "Whether the next elements are too large to be shown.",
        example: false,
      }),
    }),
    meta: z.object({ cursor }),
  })
  .meta({ id: "CacheValue" });

export type KeyDocument = z.output<typeof keyDocument>;
