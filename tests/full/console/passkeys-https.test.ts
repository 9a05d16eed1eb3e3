// Passkeys over HTTPS under a host name of its own, as browsers have them beside localhost.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { addAuthenticator } from "../../support/clients/authenticator.ts";
import { makeCertificate } from "../../support/clients/certificate.ts";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS } from "../../support/console/start.ts";
import { freshDataDir, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const HOST = "cloud.example";

let folder: string;
let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
let origin: string;

beforeAll(async () => {
  folder = freshDataDir();
  const { cert, key } = await makeCertificate(folder, HOST);
  const env = { PILVI_TLS_CERT: cert, PILVI_TLS_KEY: key, PILVI_PUBLIC_HOST: HOST };
  const { publicKey } = new X509Certificate(readFileSync(cert));
  const pin = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
  [pilvi, chromium] = await Promise.all([
    startPilvi({ env }),
    // A page whose certificate is not trusted has no passkeys, so this key is trusted as an authority's would be.
    startChromium([
      `--ignore-certificate-errors-spki-list=${pin}`,
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
    ]),
  ]);
  const tls = { ca: readFileSync(cert, "utf8") };
  await until("the console is built", async () => (await fetch(pilvi.url, { tls })).status === 200);
  origin = `https://${HOST}:${pilvi.port}`;
  window = await ConsolePage.open(chromium, origin);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
  rmSync(folder, { recursive: true });
});

async function signOut(): Promise<void> {
  await window.page.getByRole("button", { name: OWNER.email }).click();
  await window.page.getByRole("menuitem", { name: "Sign out" }).click();
  await window.page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
}

test("a passkey is added and signs in over HTTPS, with a cookie that HTTPS alone sends", async () => {
  await addAuthenticator(window.page);
  await window.goto("/settings/account");
  await window.page.getByLabel("Name of the passkey").fill("Laptop");
  await window.page.getByRole("button", { name: "Add a passkey" }).click();
  await window.page.getByText("Laptop", { exact: true }).waitFor();
  await signOut();
  expect(await window.context.cookies()).toEqual([]);
  await window.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await window.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(await window.context.cookies()).toMatchObject([
    { name: "__Host-pilvi_session", domain: HOST, secure: true, httpOnly: true, sameSite: "Strict" },
  ]);
});

test("a passkey of the host name is of no use under localhost", async () => {
  const other = await window.openTab();
  await addAuthenticator(other.page);
  await other.page.goto(`https://localhost:${pilvi.port}/sign-in`);
  await other.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await other.page.getByRole("alert").waitFor();
  expect(await window.context.cookies(`https://localhost:${pilvi.port}`)).toEqual([]);
  await other.close();
});

test("a passkey that is removed signs in no more, and the activity has all of it", async () => {
  await window.goto("/settings/account");
  await window.page.getByRole("button", { name: "Remove Laptop" }).click();
  await window.page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await window.page.getByText("You have no passkey yet.").waitFor();
  await window.goto("/activity?kind=passkeys");
  await window.page.getByText("ada@example.com deleted the passkey Laptop").waitFor();
  await window.page.getByText("ada@example.com created the passkey Laptop").waitFor();
  await signOut();
  await window.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await window.page.getByText("The passkey was not accepted.").waitFor();
});
