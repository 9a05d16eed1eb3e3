// Renewed certificates as the host notices them, one look after another, with files of a test.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { loadConfig } from "../../config.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { CertificateFolder, ECDSA_KEY } from "../../../tests/support/wire/tls-sessions.ts";
import { CertificateWatch } from "./certificate-watch.ts";

const folder = new CertificateFolder();
const HOSTS = ["first.test", "renewed.test", "other.test", "wild.test"];
await Promise.all(HOSTS.map((host) => folder.newPair(host, ECDSA_KEY, host)));

let published: NamedCertificate[][];
let errors: string[];
let watch: CertificateWatch;

afterAll(() => folder.remove());

beforeEach(() => {
  published = [];
  errors = [];
  rmSync(folder.file("dir"), { recursive: true, force: true });
  mkdirSync(folder.file("dir"));
  put("first.test", "default");
  put("other.test", "dir/other");
  const config = loadConfig({
    PILVI_DATA_DIR: folder.file("data"),
    PILVI_TLS_CERT: folder.file("default.crt"),
    PILVI_TLS_KEY: folder.file("default.key"),
    PILVI_TLS_DIR: folder.file("dir"),
  });
  const log = {
    info() {},
    warn() {},
    error: (_: unknown, text: string) => errors.push(text),
    child: () => log,
  };
  watch = new CertificateWatch(config, log, (certificates) => published.push(certificates));
  watch.look();
});

/** Copies a pair to other names. */
function put(host: string, name: string): void {
  copyFileSync(folder.file(`${host}.crt`), folder.file(`${name}.crt`));
  copyFileSync(folder.file(`${host}.key`), folder.file(`${name}.key`));
}

function shown(): string[] | undefined {
  return published.at(-1)?.map(({ cert }) => new X509Certificate(cert).subject);
}

describe("certificates that the settings name", () => {
  test("are published at the first look, the default first, and not again while they stay", () => {
    expect(shown()).toEqual(["CN=first.test", "CN=other.test"]);
    for (let look = 0; look < 3; look += 1) watch.look();
    expect(published).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test("are published anew when a pair has stayed the same from one look to the next", () => {
    put("renewed.test", "default");
    watch.look();
    expect(published).toHaveLength(1);
    watch.look();
    expect(shown()).toEqual(["CN=renewed.test", "CN=other.test"]);
    expect(new X509Certificate(watch.configured?.cert ?? "").subject).toBe("CN=renewed.test");
  });

  test("are kept while a new pair is half written", () => {
    copyFileSync(folder.file("renewed.test.key"), folder.file("default.key"));
    for (let look = 0; look < 3; look += 1) watch.look();
    const whole = folder.read("renewed.test.crt");
    writeFileSync(folder.file("default.crt"), whole + whole.slice(0, 100));
    for (let look = 0; look < 3; look += 1) watch.look();
    expect(shown()).toEqual(["CN=first.test", "CN=other.test"]);
    writeFileSync(folder.file("default.crt"), whole);
    for (let look = 0; look < 2; look += 1) watch.look();
    expect(shown()).toEqual(["CN=renewed.test", "CN=other.test"]);
  });

  test("are kept when a new file is broken, which is logged once", () => {
    writeFileSync(folder.file("default.crt"), "nothing");
    for (let look = 0; look < 5; look += 1) watch.look();
    expect(published).toHaveLength(1);
    expect(errors).toEqual(["a certificate cannot be shown, and the former one is kept"]);
    expect(new X509Certificate(watch.configured?.cert ?? "").subject).toBe("CN=first.test");
  });

  test("are kept when their files are gone", () => {
    rmSync(folder.file("default.crt"));
    rmSync(folder.file("dir"), { recursive: true });
    for (let look = 0; look < 3; look += 1) watch.look();
    expect(published).toHaveLength(1);
  });
});

describe("the folder of certificates", () => {
  test("takes pairs as ACME clients lay them out, and drops removed pairs", () => {
    mkdirSync(folder.file("dir/wild.test"));
    copyFileSync(folder.file("wild.test.crt"), folder.file("dir/wild.test/fullchain.pem"));
    copyFileSync(folder.file("wild.test.key"), folder.file("dir/wild.test/privkey.pem"));
    watch.look();
    expect(shown()).toEqual(["CN=first.test", "CN=other.test", "CN=wild.test"]);
    renameSync(folder.file("dir/other.crt"), folder.file("dir/other.old"));
    watch.look();
    expect(shown()).toEqual(["CN=first.test", "CN=wild.test"]);
  });

  test("leaves a broken pair out, and shows the others", () => {
    put("wild.test", "dir/a");
    copyFileSync(folder.file("other.test.key"), folder.file("dir/a.key"));
    put("wild.test", "dir/b");
    watch.look();
    expect(shown()).toEqual(["CN=first.test", "CN=wild.test", "CN=other.test"]);
    expect(errors).toHaveLength(1);
  });
});
