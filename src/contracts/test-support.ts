// Writes manifests in former formats and reads the lines of links, for tests.

/** The text of a manifest of format 1, which had another name for the member `desiredState`. */
export function textInFormat1(members: object): string {
  return JSON.stringify(members).replaceAll('"desiredState"', '"wish"');
}

/** Whether a line is the first line of a link. */
export function isHello(line: string): boolean {
  return (JSON.parse(line) as { type?: unknown }).type === "hello";
}
