// Applications of frameworks that build pages: deployed, opened in Chromium, deployed again, rolled back and deleted.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { astro, next, nuxt, type Framework } from "../support/applications/frameworks.ts";
import { startChromium } from "../support/clients/chromium.ts";
import { TestApplication } from "../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";

/** Packages come from other machines. */
const BUILDS_MS = 400_000;

const FRAMEWORKS: [name: string, framework: Framework, mode: string][] = [
  ["Next.js", next, "process"],
  ["Nuxt", nuxt, "process"],
  ["Astro", astro, "static"],
];

let pilvi: TestPilvi;
let chromium: { browser: Browser; close(): Promise<void> };

beforeAll(async () => {
  [pilvi, chromium] = await Promise.all([
    startPilvi(),
    startChromium(["--host-resolver-rules=MAP *.localhost 127.0.0.1"]),
  ]);
}, 120_000);

afterAll(async () => {
  await Promise.all([pilvi.close(), chromium.close()]);
});

/** Deploys files, and gives the id of a deployment that succeeded. */
async function deploy(application: TestApplication, framework: Framework, text: string): Promise<string> {
  const { id, attributes } = await application.deploy(framework(text), BUILDS_MS);
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
  return id;
}

/** The page runs its own script, whose name the build has chosen. */
async function expectPage(application: TestApplication, text: string): Promise<void> {
  const { meta } = await application.environment();
  const page = await chromium.browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page.goto(meta.url);
  await page.locator("#text", { hasText: text }).waitFor();
  await page.close();
  expect(faults).toEqual([]);
  expect(await application.text("/text")).toBe(text);
}

/** An encoded picture, and a page that the build did not make, are kept in the folders of the release. */
async function expectCachesOfNext(application: TestApplication): Promise<void> {
  const picture = async () => await application.fetch("/_next/image?url=%2Fpicture&w=64&q=75");
  expect((await picture()).status).toBe(200);
  await until("the picture is kept", async () => (await picture()).headers.get("x-nextjs-cache") === "HIT");
  expect(await application.text("/later/kept")).toContain("kept");
  const isKept = async () => (await application.text("/written")).includes("/kept.html");
  await until("the page is kept", isKept);
}

test.each(FRAMEWORKS)(
  "%s is deployed, deployed again, and rolled back without a build",
  async (name, framework, mode) => {
    const application = await TestApplication.create(pilvi, name);
    const first = await deploy(application, framework, "one");
    await expectPage(application, "one");
    expect((await application.environment()).attributes.serving).toMatchObject({ mode });
    await deploy(application, framework, "two");
    await expectPage(application, "two");
    const { attributes, meta } = await application.rollBack(first);
    expect([attributes.status, meta.release_of]).toEqual(["deployment.succeeded", first]);
    await expectPage(application, "one");
    if (name === "Next.js") await expectCachesOfNext(application);
    if (mode === "static") expect((await application.fetch("/nowhere")).status).toBe(404);
    if (mode === "process") {
      const item = await application.fetch("/items/a%20b");
      expect([item.status, await item.json()]).toEqual([200, { id: "a b" }]);
    }
    await application.delete();
    await until("no instance is left", () => pilvi.instanceFolders().length === 0);
  },
  2 * BUILDS_MS,
);
