// Certificates by server name: a certificate for the name itself, then a wildcard in place of its first label, then the
// first of all.
import { X509Certificate } from "node:crypto";

/** Chooses among values by the name of a server. */
export class ByServerName<Value> {
  readonly #values = new Map<string, Value>();
  readonly #first: Value;

  /**
   * @param values the first is for clients that name no server or an unknown server; of two with one name the earlier
   *   is chosen.
   */
  constructor(
    values: readonly [
      { names: readonly string[]; value: Value },
      ...{ names: readonly string[]; value: Value }[],
    ],
  ) {
    this.#first = values[0].value;
    for (const { names, value } of values) {
      for (const name of names) if (!this.#values.has(name)) this.#values.set(name, value);
    }
  }

  find(serverName: string | null): Value {
    const name = (serverName ?? "").toLowerCase().replace(/\.$/, "");
    const parent = name.slice(name.indexOf(".") + 1);
    return this.#values.get(name) ?? this.#values.get(`*.${parent}`) ?? this.#first;
  }
}

/**
 * The server names of a certificate in the PEM format, in lower case. The name of its subject counts only where the
 * certificate lists no names.
 * @throws Error when the certificate is malformed.
 */
export function serverNamesOf(cert: string): string[] {
  const { subject, subjectAltName } = new X509Certificate(cert);
  const listed = (subjectAltName ?? "").matchAll(/\bDNS:([^\s,"]+)/g);
  const own = subjectAltName === undefined ? (subject ?? "").matchAll(/^CN=(\S+)$/gm) : [];
  return [...new Set([...listed, ...own].map(([, name = ""]) => name.toLowerCase()))];
}
