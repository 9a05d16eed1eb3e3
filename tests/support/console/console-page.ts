// The console in a real browser, for tests: records what no page may do, checks accessibility, and makes pictures.
import { resolve } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { TestBrowser } from "../clients/chromium.ts";
import { keepPicture } from "./pictures.ts";

const AXE = resolve(import.meta.dir, "../../../node_modules/axe-core/axe.min.js");
/** The guards at the ends of an open menu hand the focus on at once, so no reader ever stands on one. */
const RUN_AXE = `axe.run({ exclude: ["[data-base-ui-focus-guard]"] }).then(({ violations }) => violations)`;
const WIDE = { width: 1280, height: 800 };
/** Long for a page, and short for a reader of a test that fails. */
const TIMEOUT_MS = 60_000;
const PHONE = { width: 390, height: 844 };

interface AxeFault {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** A browser window with the console in it. */
export class ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly #origin: string;
  /** Errors of the page's console, exceptions and refusals of its policy. */
  readonly errors: string[] = [];
  /** Requests to other hosts. */
  readonly foreign: string[] = [];

  /** Whether it is a further tab of another page's window. */
  readonly #isTab: boolean;

  private constructor(context: BrowserContext, page: Page, origin: string, isTab = false) {
    this.context = context;
    this.#isTab = isTab;
    this.page = page;
    this.#origin = origin;
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.errors.push(message.text());
    });
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) this.foreign.push(url);
    });
  }

  /** Opens a window without a session. */
  static async open(
    chromium: TestBrowser,
    origin: string,
    options: BrowserContextOptions = {},
  ): Promise<ConsolePage> {
    const context = await chromium.browser.newContext({ viewport: WIDE, colorScheme: "light", ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    return new ConsolePage(context, await context.newPage(), origin);
  }

  /** Opens a further tab in the same window, with the same session. */
  async openTab(): Promise<ConsolePage> {
    return new ConsolePage(this.context, await this.context.newPage(), this.#origin, true);
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.#origin + path);
  }

  /** Faults that axe-core finds in the page as it is, as sentences. */
  async accessibilityFaults(): Promise<string[]> {
    // The policy of the page forbids scripts that are added to it; the debugger's own are no part of it.
    await this.page.evaluate(await Bun.file(AXE).text());
    const faults = (await this.page.evaluate(RUN_AXE)) as AxeFault[];
    return faults.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }

  /** Checks the page in both themes and at the width of a phone, and makes a picture of each. */
  async faultsInAllLooks(name: string): Promise<string[]> {
    const faults: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await this.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const width of ["wide", "phone"] as const) {
        await this.page.setViewportSize(width === "wide" ? WIDE : PHONE);
        await keepPicture(this.page, name, { theme: colorScheme, width });
        const found = await this.accessibilityFaults();
        const scroll = await this.page.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (Number(scroll) > 0) found.push(`the page is ${scroll} pixels wider than the window`);
        faults.push(...found.map((fault) => `${name}, ${colorScheme}, ${width}: ${fault}`));
      }
    }
    await this.page.setViewportSize(WIDE);
    await this.page.emulateMedia({ colorScheme: "light" });
    return faults;
  }

  async close(): Promise<void> {
    await (this.#isTab ? this.page.close() : this.context.close());
  }
}
