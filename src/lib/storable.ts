// Makes foreign texts fit for the store: Postgres takes no NUL, and in JSON no half of a surrogate pair.

/** Whether the store takes a text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** A text that the store takes, cut to `maxCharacters`; half of a character becomes U+FFFD. */
export function storableText(text: string, maxCharacters = text.length): string {
  return text.slice(0, maxCharacters).replaceAll("\0", "").toWellFormed();
}

/** A copy of a value of JSON with texts and names of members that the store takes. */
export function storable<Value>(value: Value): Value {
  return copyOf(value) as Value;
}

function copyOf(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, member]) => [storableText(name), copyOf(member)]);
  return Object.fromEntries(members);
}
