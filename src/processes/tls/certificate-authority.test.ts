// The gateway's certificate and the authority behind it: when they are kept, and when they are made anew.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import type { Certificate } from "../../engines/engine.ts";
import type { Log } from "../../lib/line-log.ts";
import { ensureGatewayCertificate, gatewayNames, readAuthority } from "./certificate-authority.ts";

const NAMES = ["db.example.com", "192.0.2.1", "localhost", "127.0.0.1", "::1"];
const NOW = new Date("2030-01-15T12:00:00Z");
const log: Log = { info() {}, warn() {}, error() {}, child: () => log };

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "pilvi-ca-"));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

function ensure({ names = NAMES, days = 0 } = {}): Promise<Certificate> {
  return ensureGatewayCertificate({ dataDir, names, now: new Date(NOW.getTime() + days * 86_400_000) }, log);
}

function file(name: string): string {
  return join(dataDir, "tls", name);
}

function authority(): X509Certificate {
  return new X509Certificate(readFileSync(file("ca.crt")));
}

test("the certificate is signed by the authority and holds for each name", async () => {
  const { cert, key } = await ensure();
  const certificate = new X509Certificate(cert);
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(certificate.verify(authority().publicKey)).toBe(true);
  expect(certificate.checkIssued(authority())).toBe(true);
  for (const name of ["db.example.com", "localhost"]) expect(certificate.checkHost(name)).toBe(name);
  for (const ip of ["192.0.2.1", "127.0.0.1", "::1"]) expect(certificate.checkIP(ip)).toBe(ip);
  expect(certificate.checkHost("example.com")).toBeUndefined();
  expect([certificate.ca, authority().ca]).toEqual([false, true]);
  expect(lifeDays(certificate)).toBe(397);
  expect(lifeDays(authority())).toBe(3652);
});

test("keys are readable by their owner only, certificates by all", async () => {
  await ensure();
  const modes = ["ca.key", "gateway.key", "ca.crt", "gateway.crt"].map(
    (name) => statSync(file(name)).mode & 0o777,
  );
  expect(modes).toEqual([0o600, 0o600, 0o644, 0o644]);
});

test("a second start keeps certificate and authority", async () => {
  const first = await ensure();
  const before = authority().fingerprint256;
  expect(await ensure({ days: 300 })).toEqual(first);
  expect(authority().fingerprint256).toBe(before);
});

test("a certificate that is about to end, or lacks a name, is replaced under the same authority", async () => {
  const first = await ensure();
  const before = authority().fingerprint256;
  const renewed = await ensure({ days: 380 });
  expect(renewed.cert).not.toBe(first.cert);
  const renamed = await ensure({ days: 380, names: [...NAMES, "other.example.com"] });
  expect(new X509Certificate(renamed.cert).checkHost("other.example.com")).toBe("other.example.com");
  expect(authority().fingerprint256).toBe(before);
});

test("no certificate outlives its authority", async () => {
  await ensure();
  const { cert } = await ensure({ days: 3_500 });
  expect(new X509Certificate(cert).validTo).toBe(authority().validTo);
});

test("an authority that is about to end is replaced", async () => {
  await ensure();
  const before = authority().fingerprint256;
  const { cert } = await ensure({ days: 3_640 });
  expect(authority().fingerprint256).not.toBe(before);
  expect(new X509Certificate(cert).verify(authority().publicKey)).toBe(true);
});

test("a lost key of the authority matters only when a certificate has to be signed", async () => {
  const first = await ensure();
  const before = authority().fingerprint256;
  rmSync(file("ca.key"));
  expect(await ensure()).toEqual(first);
  const { cert } = await ensure({ days: 380 });
  expect(authority().fingerprint256).not.toBe(before);
  expect(new X509Certificate(cert).verify(authority().publicKey)).toBe(true);
});

test.each(["ca.crt", "gateway.crt", "gateway.key"])("half of %s is made good", async (name) => {
  await ensure();
  writeFileSync(file(name), readFileSync(file(name), "utf8").slice(0, 100));
  const { cert, key } = await ensure();
  expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(new X509Certificate(cert).verify(authority().publicKey)).toBe(true);
  expect(await ensure()).toEqual({ cert, key });
});

test("a certificate that cannot be saved is used all the same", async () => {
  mkdirSync(file("ca.key.tmp"), { recursive: true });
  const { cert } = await ensure();
  expect(new X509Certificate(cert).checkHost("localhost")).toBe("localhost");
});

test("the authority can be read once it exists, and is the signing certificate", async () => {
  const config = loadConfig({ PILVI_DATA_DIR: dataDir });
  expect(() => readAuthority(config)).toThrow("There is no certificate authority");
  await ensure();
  expect(readAuthority(config)).toBe(readFileSync(file("ca.crt"), "utf8"));
  const configured = loadConfig({ PILVI_DATA_DIR: dataDir, PILVI_TLS_CERT: "/c", PILVI_TLS_KEY: "/k" });
  expect(() => readAuthority(configured)).toThrow("PILVI_TLS_CERT");
});

test("clients reach the gateway by its public name, its address and those of this machine", () => {
  const local = ["localhost", "127.0.0.1", "::1"];
  expect(gatewayNames(loadConfig({}))).toEqual(["127.0.0.1", "localhost", "::1"]);
  const open = { PILVI_INSECURE: "1", PILVI_PUBLIC_HOST: "db.example.com" };
  expect(gatewayNames(loadConfig({ ...open, PILVI_BIND: "0.0.0.0" }))).toEqual(["db.example.com", ...local]);
  const bound = gatewayNames(loadConfig({ ...open, PILVI_BIND: "192.0.2.1" }));
  expect(bound).toEqual(["db.example.com", "192.0.2.1", ...local]);
});

function lifeDays({ validFrom, validTo }: X509Certificate): number {
  return (Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000;
}
