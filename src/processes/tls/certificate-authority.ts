// The gateway's certificate for settings without a certificate, and Pilvi's own authority, which signs it.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { isWildcard } from "../../lib/api-address.ts";
import type { Certificate } from "../../engines/engine.ts";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";
import { readIfPresent, replaceFile, syncFile } from "../../lib/files.ts";
import type { Log } from "../../lib/line-log.ts";
import type { PairFiles } from "./certificate.ts";
import type { Period } from "./x509.ts";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_652;
/** The longest life that all common clients accept. */
const SERVER_DAYS = 397;
/** A certificate with less than this left is replaced. */
const RENEWAL_DAYS = 30;
/** Clocks of clients may be behind. */
const BACKDATED_DAYS = 1;

/** A request for a certificate of the gateway. */
interface CertificateRequest {
  dataDir: string;
  /** Names and addresses that clients may reach the gateway by. */
  names: string[];
  now: Date;
}

/** The file that clients trust: the certificate of Pilvi's own authority. */
function authorityFile(dataDir: string): string {
  return join(dataDir, "tls", "ca.crt");
}

/** The file of the gateway's certificate for settings without a certificate. */
function gatewayCertificateFile(dataDir: string): string {
  return join(dataDir, "tls", "gateway.crt");
}

/** The gateway's own certificate as files. */
export function authorityPair(dataDir: string): PairFiles {
  const certFile = gatewayCertificateFile(dataDir);
  const keyFile = join(dataDir, "tls", "gateway.key");
  return { certFile, keyFile, certName: `The file ${certFile}`, keyName: `The file ${keyFile}` };
}

/** The names and addresses that clients of a Pilvi with these settings reach the gateway by. */
export function gatewayNames({ publicHost, bind }: Config): string[] {
  const bound = isWildcard(bind) ? [] : [bind];
  return [...new Set([publicHost, ...bound, "localhost", "127.0.0.1", "::1"])];
}

/**
 * The certificate for the gateway; made when it is missing, about to end, or lacks a name.
 *
 * A disk that cannot be written to does not keep Pilvi from starting: the new certificate is used, and the next start
 * makes another.
 */
export async function ensureGatewayCertificate(request: CertificateRequest, log: Log): Promise<Certificate> {
  const folder = join(request.dataDir, "tls");
  const present = readPair(folder, "gateway");
  const authority = readIfPresent(authorityFile(request.dataDir));
  if (present !== null && authority !== null && isGood(present, authority, request)) return present;
  return makeGatewayCertificate(folder, request, log);
}

/**
 * The certificate of the authority, in the PEM format.
 * @throws Refusal when there is no authority.
 */
export function readAuthority({ dataDir, tls }: Config): string {
  if (tls !== undefined) {
    throw new Refusal(
      `The gateway shows the certificate in ${tls.certFile} (PILVI_TLS_CERT), which Pilvi's own authority has not signed.`,
    );
  }
  try {
    return readFileSync(authorityFile(dataDir), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") {
      throw new Refusal(
        `There is no certificate authority in ${dataDir} yet. The first start of Pilvi makes one: npm start`,
        error,
      );
    }
    throw new Refusal(`The file ${authorityFile(dataDir)} cannot be read: ${messageOf(error)}.`, error);
  }
}

async function makeGatewayCertificate(
  folder: string,
  { names, now }: CertificateRequest,
  log: Log,
): Promise<Certificate> {
  const x509 = await import("./x509.ts");
  const known = readPair(folder, "ca");
  const isUsable = known !== null && lastsUntil(known.cert) > later(now, RENEWAL_DAYS);
  if (!isUsable && readIfPresent(join(folder, "ca.crt")) !== null) {
    log.warn(
      { folder },
      "a new certificate authority is made, because the key of the old one is gone or its time is over; clients that verify need the new one, which `pilvi ca` prints",
    );
  }
  const authority = isUsable ? known : x509.makeAuthority(periodOf(now, AUTHORITY_DAYS));
  const period = periodOf(now, SERVER_DAYS);
  const authorityEnd = lastsUntil(authority.cert);
  if (authorityEnd < period.until) period.until = authorityEnd;
  const made = x509.makeServerCertificate(authority, names, period);
  log.info({ names, until: period.until.toISOString() }, "a certificate for the gateway is made");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    if (!isUsable) await writePair(folder, "ca", authority);
    await writePair(folder, "gateway", made);
  } catch (error) {
    log.error({ error }, "the certificate of the gateway cannot be kept");
  }
  return made;
}

/** The key comes first: a kill in between leaves a pair that does not belong together, which counts as missing. */
async function writePair(folder: string, name: string, { cert, key }: Certificate): Promise<void> {
  replaceFile(join(folder, `${name}.key`), key, 0o600);
  await syncFile(join(folder, `${name}.key`));
  replaceFile(join(folder, `${name}.crt`), cert, 0o644);
  await syncFile(join(folder, `${name}.crt`));
}

/** A certificate with the key that belongs to it; null when either is missing, or they do not fit each other. */
function readPair(folder: string, name: string): Certificate | null {
  const cert = readIfPresent(join(folder, `${name}.crt`));
  const key = readIfPresent(join(folder, `${name}.key`));
  if (cert === null || key === null) return null;
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : null;
  } catch {
    return null;
  }
}

function isGood({ cert }: Certificate, authority: string, { names, now }: CertificateRequest): boolean {
  const certificate = new X509Certificate(cert);
  return (
    isSignedBy(certificate, authority) &&
    lastsUntil(cert) > later(now, RENEWAL_DAYS) &&
    names.every((name) => isFor(certificate, name))
  );
}

function isSignedBy(certificate: X509Certificate, authority: string): boolean {
  try {
    return certificate.verify(new X509Certificate(authority).publicKey);
  } catch {
    return false;
  }
}

function isFor(certificate: X509Certificate, name: string): boolean {
  const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return found !== undefined;
}

function lastsUntil(cert: string): Date {
  return new Date(new X509Certificate(cert).validTo);
}

function periodOf(now: Date, days: number): Period {
  return { from: later(now, -BACKDATED_DAYS), until: later(now, days - BACKDATED_DAYS) };
}

function later(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY_MS);
}
