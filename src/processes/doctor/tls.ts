// Looks at what the gateway speaks TLS with.
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isLoopback, type Config } from "../../config.ts";
import { messageOf } from "../../lib/errors.ts";
import { gatewayCertificateFile } from "../tls/certificate-authority.ts";
import { findLibssl } from "../tls/libssl.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const DAY_MS = 86_400_000;
const SOON_DAYS = 21;

/** @returns a finding for the library, and one for the certificate when there is one. */
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
  const file = config.tls?.certFile ?? gatewayCertificateFile(config.dataDir);
  if (config.tls === undefined && !existsSync(file)) return [];
  try {
    const end = new Date(new X509Certificate(readFileSync(file)).validTo);
    const text = `certificate ${file}, until ${end.toISOString().slice(0, 10)}`;
    if (end.getTime() - now.getTime() > SOON_DAYS * DAY_MS) return [ok(text)];
    const advice =
      config.tls === undefined
        ? "Restart Pilvi, which renews it."
        : "Replace it with a new one and restart Pilvi.";
    return [warn(text, advice)];
  } catch (error) {
    return [fail(`certificate ${file}: ${messageOf(error)}`, "Set PILVI_TLS_CERT to a PEM file.")];
  }
}
