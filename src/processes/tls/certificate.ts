// The certificates that the settings name, read and checked before anything is shown.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { serverNamesOf } from "../../lib/certificates.ts";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";

/** A certificate and its key as files, with the names of both for sentences. */
export interface PairFiles {
  certFile: string;
  keyFile: string;
  certName: string;
  keyName: string;
}

/** More certificates than any Pilvi has names; each costs the gateway some 100 kB. */
const MOST_PAIRS = 1_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The pair for clients that name no server, or a server without a certificate of its own; null when the settings name
 * no pair.
 */
export function defaultPair({ tls }: Config): PairFiles | null {
  return tls === undefined
    ? null
    : {
        ...tls,
        certName: `PILVI_TLS_CERT names the file ${tls.certFile}, which`,
        keyName: `PILVI_TLS_KEY names the file ${tls.keyFile}, which`,
      };
}

/**
 * The pairs in the folder for further names, in the order of their file names: `NAME.crt` or `NAME.pem` with
 * `NAME.key`, and folders with `fullchain.pem` and `privkey.pem`, as ACME clients make them.
 * @throws Refusal when there are too many, or the folder cannot be read.
 */
export function folderPairs({ tlsDir }: Config): PairFiles[] {
  if (tlsDir === undefined) return [];
  const names = listed(tlsDir);
  const files = new Set(names);
  const pairs = names.flatMap((name): [string, string][] => {
    const [, stem] = /^(.+)\.(?:crt|pem)$/.exec(name) ?? [];
    if (stem !== undefined && files.has(`${stem}.key`)) return [[name, `${stem}.key`]];
    const isFolder = isThere(join(tlsDir, name, "fullchain.pem"));
    return isFolder ? [[join(name, "fullchain.pem"), join(name, "privkey.pem")]] : [];
  });
  if (pairs.length > MOST_PAIRS)
    throw new Refusal(`${tlsDir} (PILVI_TLS_DIR) has more than ${MOST_PAIRS} certificates.`);
  return pairs.map(([cert, key]) => {
    const [certFile, keyFile] = [join(tlsDir, cert), join(tlsDir, key)];
    return { certFile, keyFile, certName: `The file ${certFile}`, keyName: `The file ${keyFile}` };
  });
}

/** @throws Refusal when a file cannot be read or is not whole, or the key does not belong to the certificate. */
export function readPair({ certFile, keyFile, certName, keyName }: PairFiles): NamedCertificate {
  const cert = read(certName, certFile);
  const key = read(keyName, keyFile);
  const certificate = parsed(`${certName} holds no certificate`, () => firstOf(cert));
  const privateKey = parsed(`${keyName} holds no private key`, () => createPrivateKey(key));
  if (certificate.checkPrivateKey(privateKey)) return { names: serverNamesOf(cert), cert, key };
  throw new Refusal(`The key in ${keyFile} does not belong to the certificate in ${certFile}.`);
}

/** The default certificate, null when the settings name no certificate. @throws Refusal as `readPair`. */
export function readCertificate(config: Config): NamedCertificate | null {
  const pair = defaultPair(config);
  return pair === null ? null : readPair(pair);
}

/**
 * The further certificates. A broken pair is reported to `complain` and left out, since it must not prevent a start.
 * @throws Refusal as `folderPairs`.
 */
export function readOthers(config: Config, complain: (fault: Error) => void): NamedCertificate[] {
  return folderPairs(config).flatMap((pair) => {
    try {
      return [readPair(pair)];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      complain(error);
      return [];
    }
  });
}

/** The first certificate of a chain, all of which must be whole. */
function firstOf(pem: string): X509Certificate {
  const [first, ...others] = (pem.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each));
  if (first === undefined || pem.split("-----BEGIN ").length - 1 !== others.length + 1) {
    throw new Error("a certificate of the file is not whole");
  }
  return first;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new Refusal(
      `PILVI_TLS_DIR names the folder ${folder}, which cannot be read: ${messageOf(error)}.`,
      error,
    );
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Refusal(`${name} cannot be read: ${messageOf(error)}.`, error);
  }
}

function parsed<T>(fault: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Refusal(`${fault} in the PEM format.`, error);
  }
}
