// Names for addresses, made from names for people.

/** A label of a host name may have 63 characters; the rest is for the number of a slug and the names around it. */
const MAX_SLUG = 40;

/** The longest a slug may become with its number. */
const ROOM_FOR_NUMBER = 6;

/**
 * A text of lowercase letters, digits and single hyphens.
 * @param fallback for a name that has no letter or digit of ASCII.
 */
export function slugOf(name: string, fallback: string): string {
  const ascii = name
    .normalize("NFKD")
    .replaceAll(/\p{Diacritic}/gu, "")
    .toLowerCase();
  const slug = ascii.replaceAll(/[^a-z0-9]+/g, "-").slice(0, MAX_SLUG - ROOM_FOR_NUMBER);
  const trimmed = slug.replaceAll(/^-+|-+$/g, "");
  return trimmed === "" ? fallback : trimmed.padEnd(3, "0");
}

/** The slug, or the slug with the lowest number from 2 that is free. */
export function freeSlug(slug: string, taken: readonly string[]): string {
  const used = new Set(taken);
  if (!used.has(slug)) return slug;
  for (let number = 2; ; number++) {
    const numbered = `${slug}-${number}`;
    if (!used.has(numbered)) return numbered;
  }
}
