// The origin that a client without a page names, so that it can try an application which only some pages may use.

/** The first allowed origin as a browser would name it; undefined when the application does not ask. */
export function originFor(allowed: string[]): string | undefined {
  const [first] = allowed;
  if (first === undefined || allowed.includes("*")) return undefined;
  const [, scheme = "https://", host = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*?)(?::\*)?\/?$/i.exec(first) ?? [];
  return scheme + host.replace(/^\*\./, "pilvi.");
}
