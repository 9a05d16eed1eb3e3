// The OpenSSL that the gateway loads: the system's, or a copy that an engine has brought along.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { TlsContext } from "../../src/gateway/tls/index.ts";
import { findLibssl } from "../../src/processes/tls/libssl.ts";
import { address, CertificateFolder, LIBRARY, openPair } from "../support/wire/tls-sessions.ts";

const NOT_OF_THIS_SYSTEM = "libssl-of-no-system.so.3";

const folder = new CertificateFolder();
const engines = folder.file("engines");
const inEngine = join(engines, "valkey-8.0.1", "usr", "lib", "x86_64-linux-gnu");

beforeAll(() => {
  expect(findLibssl(engines)).toBe(LIBRARY);
  const ofSystem = /\S+\/libssl\.so\.3/.exec(readFileSync("/proc/self/maps", "utf8"))?.[0] ?? "";
  mkdirSync(inEngine, { recursive: true });
  for (const name of [LIBRARY, "libcrypto.so.3"]) {
    copyFileSync(join(dirname(ofSystem), name), join(inEngine, name));
  }
});

afterAll(() => folder.remove());

test("an engine's OpenSSL is loaded where the system has none, and works", async () => {
  const library = findLibssl(engines, NOT_OF_THIS_SYSTEM);
  expect(library).toBe(join(inEngine, LIBRARY));
  expect(readFileSync("/proc/self/maps", "utf8")).toContain(join(inEngine, LIBRARY));
  const { session, client, free } = openPair(
    TlsContext.open({ ...(await folder.newPair("own")), library: library ?? "" }),
  );
  client.write(new Uint8Array(3));
  expect(session.read(address, 10)).toBe(3);
  free();
});

test("a folder with half of OpenSSL, or no folder, gives no library", () => {
  const other = folder.file("other-engines");
  const place = join(other, "redis-7.0.15", "usr", "lib", "x86_64-linux-gnu");
  mkdirSync(place, { recursive: true });
  copyFileSync(join(inEngine, LIBRARY), join(place, LIBRARY));
  expect(findLibssl(other, NOT_OF_THIS_SYSTEM)).toBeNull();
  rmSync(other, { recursive: true });
  expect(findLibssl(other, NOT_OF_THIS_SYSTEM)).toBeNull();
});
