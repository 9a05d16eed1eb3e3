// The cookie that carries the secret of a session. Scripts of pages cannot read it, and other sites cannot send it.
import { MAX_DAYS } from "./sessions.ts";

const NAME = "pilvi_session";
/** A browser keeps a cookie with this prefix only from the very host, over HTTPS, for all its paths. */
const SECURE_NAME = `__Host-${NAME}`;

/** The secret in the `Cookie` header. @param url the URL of the request. */
export function sessionSecretOf(header: string | null, url: URL): string | undefined {
  if (header === null) return undefined;
  const cookies = new Map(
    header.split(";").map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
  // Over HTTP another port of this host could have set the plain cookie only.
  return cookies.get(SECURE_NAME) ?? (url.protocol === "https:" ? undefined : cookies.get(NAME));
}

/** The header that gives a browser its session. @param origin the origin that the browser sees. */
export function sessionCookie(secret: string, origin: string): Record<string, string> {
  return { "Set-Cookie": cookie(secret, origin, MAX_DAYS * 24 * 3600) };
}

/** The header that takes the session from a browser. */
export function noSessionCookie(origin: string): Record<string, string> {
  return { "Set-Cookie": cookie("", origin, 0) };
}

function cookie(value: string, origin: string, maxAgeSeconds: number): string {
  const isSecure = origin.startsWith("https:");
  const name = isSecure ? SECURE_NAME : NAME;
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}
