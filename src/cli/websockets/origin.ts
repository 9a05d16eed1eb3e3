// The origin that the command line names in place of a page, since some applications admit only some pages.

/** The first allowed origin as a browser would name it; undefined when the application does not demand an origin. */
export function originFor(allowed: string[]): string | undefined {
  const [first] = allowed;
  if (first === undefined || allowed.includes("*")) return undefined;
  const [, scheme = "https://", host = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*?)(?::\*)?\/?$/i.exec(first) ?? [];
  return scheme + host.replace(/^\*\./, "pilvi.");
}
