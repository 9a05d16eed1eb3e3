// Certificates that one process reads from files of its own user, for others that have given up the right to read those
// files.
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { replaceFile, signatureOf } from "../lib/files.ts";
import { readJsonAs } from "./read.ts";

const namedCertificateSchema = z.strictObject({
  /** Server names that choose the certificate, in lower case. */
  names: z.array(z.string()),
  /** PEM: the certificate and its chain to the root, if any. */
  cert: z.string(),
  /** PEM: its private key, without a passphrase. */
  key: z.string(),
});

export type NamedCertificate = z.infer<typeof namedCertificateSchema>;

/** The first certificate is for clients that name no server or an unknown server. */
const publishedSchema = z.strictObject({
  version: z.literal(1),
  certificates: z.array(namedCertificateSchema).check(z.minLength(1)),
});

/** @param gid the group that may read the file; left out where all processes have the same user. */
export function publishCertificates(
  path: string,
  certificates: readonly NamedCertificate[],
  gid?: number,
): void {
  const text = JSON.stringify({ version: 1, certificates });
  // The first start of a host publishes before it has made any folder.
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
  replaceFile(path, text, gid === undefined ? 0o600 : 0o440, gid);
}

/** A published file, checked for a change now and then. */
export class PublishedCertificates {
  readonly #path: string;
  #known: string;

  /** @param known the file's signature from before the certificates were read in another way. */
  constructor(path: string, known: string) {
    this.#path = path;
    this.#known = known;
  }

  /**
   * @returns the certificates when they were published anew, else null.
   * @throws Error when they cannot be read; that publication counts as known then.
   */
  changed(): NamedCertificate[] | null {
    const signature = signatureOf(this.#path);
    if (signature === this.#known) return null;
    this.#known = signature;
    if (signature === "") return null;
    return readJsonAs(publishedSchema, readFileSync(this.#path, "utf8"), "the file of certificates")
      .certificates;
  }
}
