// The certificate that the API and public instances show, read and tried before anything is started with it.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import type { Certificate } from "../../engines/engine.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";

/**
 * The certificate and key that the settings name, null when they name none.
 * @throws Refusal when a file cannot be read or the two do not belong together.
 */
export function readCertificate({ tls }: Config): Certificate | null {
  if (tls === undefined) return null;
  const cert = read("PILVI_TLS_CERT", tls.certFile);
  const key = read("PILVI_TLS_KEY", tls.keyFile);
  const certificate = parsed(
    `PILVI_TLS_CERT names the file ${tls.certFile}, which holds no certificate`,
    () => new X509Certificate(cert),
  );
  const privateKey = parsed(`PILVI_TLS_KEY names the file ${tls.keyFile}, which holds no private key`, () =>
    createPrivateKey(key),
  );
  if (certificate.checkPrivateKey(privateKey)) return { cert, key };
  throw new Refusal(`The key in ${tls.keyFile} (PILVI_TLS_KEY) does not belong to PILVI_TLS_CERT.`);
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Refusal(`${name} names the file ${path}, which cannot be read: ${messageOf(error)}.`, error);
  }
}

function parsed<T>(fault: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Refusal(`${fault} in the PEM format.`, error);
  }
}
