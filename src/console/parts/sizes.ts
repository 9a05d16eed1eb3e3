// Amounts of bytes for people.

const UNITS = ["B", "kB", "MB", "GB", "TB"];
const STEP = 1000;

/** `262144000` is `262 MB`; three digits at most. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / STEP ** power).toPrecision(3))} ${UNITS[power]}`;
}
