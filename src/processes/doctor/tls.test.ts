// The findings of `pilvi doctor` about the certificate that clients of databases see.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import { CertificateFolder, ECDSA_KEY } from "../../../tests/support/wire/tls-sessions.ts";
import { ensureGatewayCertificate } from "../tls/certificate-authority.ts";
import { checkTls } from "./tls.ts";

const DAY_MS = 86_400_000;

let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "pilvi-doctor-"));
});

afterAll(() => rmSync(dataDir, { recursive: true }));

function findings({ days = 0, env = {} }: { days?: number; env?: Record<string, string> } = {}) {
  const config = loadConfig({ PILVI_DATA_DIR: dataDir, ...env });
  return checkTls(config, new Date(Date.now() + days * DAY_MS));
}

test("the gateway's own certificate gives no finding before it exists, and then its end", async () => {
  expect(findings()).toEqual([]);
  const log = { info() {}, warn() {}, error() {}, child: () => log };
  await ensureGatewayCertificate({ dataDir, names: ["localhost"], now: new Date() }, log);
  const until = new Date(Date.now() + 396 * DAY_MS).toISOString().slice(0, 10);
  expect(findings()).toEqual([
    {
      level: "ok",
      text: `certificate ${join(dataDir, "tls", "gateway.crt")}, until ${until}, for localhost`,
    },
  ]);
  expect(findings({ days: 380 })).toMatchObject([
    { level: "warn", advice: expect.stringContaining("renews") },
  ]);
});

test("an unreadable configured certificate is a failure", () => {
  const file = join(dataDir, "none.pem");
  const env = { PILVI_TLS_CERT: file, PILVI_TLS_KEY: file };
  expect(findings({ env })).toMatchObject([{ level: "fail" }]);
  writeFileSync(file, "nothing");
  expect(findings({ env })).toMatchObject([{ level: "fail" }]);
});

test("each certificate of the folder is listed with its names, and a broken pair as a failure", async () => {
  const folder = new CertificateFolder();
  const [host, other] = ["db.example.com", "other"];
  await folder.newPair("good", ECDSA_KEY, host);
  await folder.newPair("torn", ECDSA_KEY, other);
  copyFileSync(folder.file("good.key"), folder.file("torn.key"));
  expect(findings({ env: { PILVI_TLS_DIR: folder.path } }).slice(-2)).toEqual([
    // The certificates of tests last two days.
    {
      level: "warn",
      text: expect.stringContaining(`, for ${host}`) as string,
      advice: expect.stringContaining("by itself") as string,
    },
    {
      level: "fail",
      text: expect.stringContaining("does not belong to the certificate") as string,
      advice: expect.any(String) as string,
    },
  ]);
  folder.remove();
});
