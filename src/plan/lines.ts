// The lines of a file of a source.

/**
 * The lines of a text, without what ends them. They end at all signs that `.` of a pattern excludes: a pattern that
 * ends with `.*$` would search anew from each character of a line with such a sign, which takes minutes in a hostile file.
 */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/);
}
