// Pictures of the console's pages: of all looks for the people who change them, and of some pages for docs/console.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";

/** Where pictures of all pages are kept; without it none are made. */
const FOLDER = process.env.PILVI_TEST_PICTURES;
/** Whether the pictures of docs/console.md are made anew. */
const ARE_DOCUMENTED = process.env.PILVI_DOCS_PICTURES !== undefined;

const GUIDE = resolve(import.meta.dir, "../../../docs/console.md");
const DOCS = resolve(import.meta.dir, "../../../docs/images/console");
/** WebP of this quality shows text well in a tenth of the bytes of a PNG. */
const QUALITY = 75;

/** As wide as a window, and as high as a reader may want to scroll. */
const WIDTH = 1280;
const MAX_HEIGHT = 1500;

/** The pages that docs/console.md shows; each in both themes. */
const documented = new Set(
  [...readFileSync(GUIDE, "utf8").matchAll(/images\/console\/([\w-]+)-light\.webp/g)].map(([, name]) => name),
);

/** The look of a page: its theme, and the width of a window or of a phone. */
export interface PageLook {
  theme: "light" | "dark";
  width: "wide" | "phone";
}

/** Makes the pictures of a page that are asked for. */
export async function keepPicture(page: Page, name: string, { theme, width }: PageLook): Promise<void> {
  if (FOLDER !== undefined) {
    mkdirSync(FOLDER, { recursive: true });
    await page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`), fullPage: true });
  }
  if (!ARE_DOCUMENTED || width !== "wide" || !documented.has(name)) return;
  mkdirSync(DOCS, { recursive: true });
  // What stays in sight while a page is scrolled would be in the middle of its picture.
  await page.evaluate("scrollTo(0, 0)");
  // Left open: with its end, the page would lose an authenticator that a test has given it.
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", {
    format: "webp",
    quality: QUALITY,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width: WIDTH, height: await heightOf(page), scale: 1 },
  });
  writeFileSync(join(DOCS, `${name}-${theme}.webp`), Buffer.from(data, "base64"));
}

async function heightOf(page: Page): Promise<number> {
  return Math.min(MAX_HEIGHT, Number(await page.evaluate("document.documentElement.scrollHeight")));
}
