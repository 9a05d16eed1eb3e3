// Whether a web page may connect, by its origin.

/**
 * The origins that an application allows. An empty list allows every client, even without an origin; any other list allows
 * only the origins that it names.
 */
export class AllowedOrigins {
  readonly #allowsAll: boolean;
  readonly #patterns: OriginParts[];

  /** @param patterns each is `*`, a host, or `*.` before a host, with a scheme and a port where those matter. */
  constructor(patterns: readonly string[]) {
    this.#allowsAll = patterns.length === 0 || patterns.includes("*");
    this.#patterns = patterns.map(partsOf).filter((parts) => parts !== null);
  }

  /** @param origin of the browser, such as `https://example.com:8443`; null when there is no origin. */
  includes(origin: string | null): boolean {
    if (this.#allowsAll) return true;
    const given = partsOf(origin ?? "");
    if (given === null || given.scheme === null) return false;
    return this.#patterns.some((pattern) => fits(pattern, given));
  }
}

interface OriginParts {
  scheme: string | null;
  host: string;
  port: string | null;
}

function fits(wanted: OriginParts, given: OriginParts): boolean {
  if (wanted.scheme !== null && wanted.scheme !== given.scheme) return false;
  if (!fitsPort(wanted, given)) return false;
  if (!wanted.host.startsWith("*.")) return wanted.host === given.host;
  // A wildcard stands for a subdomain, never for the domain itself.
  return given.host.endsWith(wanted.host.slice(1)) && given.host.length > wanted.host.length - 1;
}

/** A pattern with a scheme means that scheme's own port; a pattern with a host alone means any port. */
function fitsPort(wanted: OriginParts, given: OriginParts): boolean {
  if (wanted.port === "*") return true;
  if (wanted.port === null && wanted.scheme === null) return true;
  return (wanted.port ?? usualPort(wanted.scheme)) === (given.port ?? usualPort(given.scheme));
}

function usualPort(scheme: string | null): string | null {
  if (scheme === "https" || scheme === "wss") return "443";
  return scheme === "http" || scheme === "ws" ? "80" : null;
}

function partsOf(text: string): OriginParts | null {
  const match = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[0-9a-f:.]+\]|[^:/\s]+)(?::(\d{1,5}|\*))?\/?$/.exec(
    text.toLowerCase(),
  );
  if (match === null) return null;
  const [, scheme = null, host = "", port = null] = match;
  return { scheme, host, port };
}
