// Checks the library and the certificates that the gateway uses for TLS.
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isLoopback, type Config } from "../../config.ts";
import { messageOf } from "../../lib/errors.ts";
import { serverNamesOf } from "../../lib/certificates.ts";
import { defaultPair, folderPairs, type PairFiles, readPair } from "../tls/certificate.ts";
import { authorityPair } from "../tls/certificate-authority.ts";
import { findLibssl } from "../tls/libssl.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const DAY_MS = 86_400_000;
const SOON_DAYS = 21;
const RENEWED_BY_PILVI = "Start Pilvi, which renews it.";
const RENEWED_BY_OTHERS = "Replace it with a new one, which Pilvi then takes by itself.";

/** @returns a finding for the library, and a finding for each certificate that exists. */
export function checkTls(config: Config, now = new Date()): Finding[] {
  return [libraryFinding(config), ...certificateFindings(config, now)];
}

function libraryFinding(config: Config): Finding {
  const library = findLibssl(config.enginesDir);
  if (library !== null) return ok(`TLS for databases with ${library}`);
  const text = "no OpenSSL 3 (libssl.so.3): databases and caches that may sleep are offered without TLS";
  const advice = "Install it with your package manager, or with `pilvi engines install`.";
  if (isLoopback(config.bind) || config.isInsecure) return warn(text, advice);
  return fail(`${text}, and clients on other machines are refused`, advice);
}

function certificateFindings(config: Config, now: Date): Finding[] {
  const configured = defaultPair(config);
  const own = authorityPair(config.dataDir).certFile;
  const first = existsSync(own) ? [finding(own, () => readFileSync(own, "utf8"), RENEWED_BY_PILVI, now)] : [];
  const of = (pair: PairFiles) => finding(pair.certFile, () => readPair(pair).cert, RENEWED_BY_OTHERS, now);
  try {
    return [...(configured === null ? first : [of(configured)]), ...folderPairs(config).map(of)];
  } catch (error) {
    return [fail(messageOf(error), "Set PILVI_TLS_DIR to a folder that can be read.")];
  }
}

/** @param advice the remedy when the end of the certificate is near. */
function finding(file: string, read: () => string, advice: string, now: Date): Finding {
  try {
    const cert = read();
    const end = new Date(new X509Certificate(cert).validTo);
    const names = serverNamesOf(cert).join(", ");
    const text = `certificate ${file}, until ${end.toISOString().slice(0, 10)}${names === "" ? "" : `, for ${names}`}`;
    return end.getTime() - now.getTime() > SOON_DAYS * DAY_MS ? ok(text) : warn(text, advice);
  } catch (error) {
    return fail(`certificate ${file}: ${messageOf(error)}`, "Put a PEM file with its key in its place.");
  }
}
