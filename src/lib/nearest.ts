// Finds the known values that resemble an unknown text, as suggestions.

/** Longer texts resemble no value; comparing them would only cost time. */
const MAX_LENGTH = 64;

const MAX_VALUES = 3;

/** Shorter texts are part of too many values. */
const MIN_PART_LENGTH = 3;

/** The values that resemble the text most, at most three: a few letters differ, or the one contains the other. */
export function nearest(text: string, values: readonly string[]): string[] {
  if (text.length > MAX_LENGTH) return [];
  const wanted = text.toLowerCase();
  return values
    .map((value) => ({ value, distance: distanceOf(wanted, value.toLowerCase()) }))
    .filter(({ distance }) => distance < Infinity)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, MAX_VALUES)
    .map(({ value }) => value);
}

/** The distance between two texts; infinite when they do not resemble each other. */
function distanceOf(wanted: string, value: string): number {
  const edits = editsBetween(wanted, value);
  if (edits <= Math.max(1, Math.floor(value.length / 4))) return edits;
  const [shorter, longer] = wanted.length < value.length ? [wanted, value] : [value, wanted];
  return shorter.length >= MIN_PART_LENGTH && longer.includes(shorter) ? edits : Infinity;
}

/** How many letters to add, remove or replace to make the one text of the other. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + Number(letter !== other[at - 1]);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
