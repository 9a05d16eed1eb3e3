// Checks the certificates that the gateway uses for TLS.
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import { messageOf } from "../../lib/errors.ts";
import { serverNamesOf } from "../../lib/certificates.ts";
import { defaultPair, folderPairs, type PairFiles, readPair } from "../tls/certificate.ts";
import { authorityPair } from "../tls/certificate-authority.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const DAY_MS = 86_400_000;
const SOON_DAYS = 21;
const RENEWED_BY_PILVI = "Start Pilvi, which renews it.";
const RENEWED_BY_OTHERS = "Replace it with a new one, which Pilvi then takes by itself.";

/** @returns a finding for each certificate that exists. */
export function checkTls(config: Config, now = new Date()): Finding[] {
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
