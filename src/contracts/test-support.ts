// Writes manifests in former formats, for tests.

/** The text of a manifest of format 1, which had another name for the member `desiredState`. */
export function textInFormat1(members: object): string {
  return JSON.stringify(members).replaceAll('"desiredState"', '"wish"');
}
