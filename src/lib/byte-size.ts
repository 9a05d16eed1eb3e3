// Amounts of bytes as people write and read them: `250mb`, `2.5gb`; binary, as the sizes of resources are.

const UNITS = ["b", "kb", "mb", "gb", "tb"];
const STEP = 1024;

/** The bytes of a text such as `500mb`, `2.5gb` or `1048576`; undefined for anything else. */
export function parseByteSize(text: string): number | undefined {
  const [, amount, unit = "b"] = /^(\d{1,15}(?:\.\d{1,3})?)(b|kb|mb|gb|tb)?$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * STEP ** UNITS.indexOf(unit.toLowerCase()));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Bytes in the largest unit of which there is at least one, with at most two decimals, such as `2.5gb`. */
export function byteSizeText(bytes: number): string {
  const step = UNITS.findLastIndex((_, index) => bytes >= STEP ** index);
  const index = Math.max(step, 0);
  return `${Number((bytes / STEP ** index).toFixed(2))}${UNITS[index]}`;
}
