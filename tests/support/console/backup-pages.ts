// The pages of backups, as tests use them.
import type { Locator } from "playwright-core";
import type { ConsolePage } from "./console-page.ts";

/** A button by its whole name, or by a part of it. */
export function button({ page }: ConsolePage, name: string | RegExp): Locator {
  return page.getByRole("button", { name, exact: typeof name === "string" });
}

/** The button that confirms what a dialog asks. */
export function inDialog({ page }: ConsolePage, name: string): Locator {
  return page.getByRole("dialog").getByRole("button", { name });
}

/** The line of a snapshot in the list. */
export function snapshotLine({ page }: ConsolePage, name: string): Locator {
  return page.getByRole("list", { name: "Snapshots" }).locator("li", { hasText: name });
}

/** Waits until the heading of the page is this. */
export async function heading({ page }: ConsolePage, name: string): Promise<void> {
  await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

/** Waits until the resource of the page has the status. */
export async function untilShown({ page }: ConsolePage, status: string): Promise<void> {
  await page.locator(`header [data-status="${status}"]`).waitFor();
}

/** The id of the resource with this name whose page has been opened. */
export async function openedId(window: ConsolePage, name: string): Promise<string> {
  await heading(window, name);
  await window.page.waitForURL(/\/(?:db|cache)-[\w-]+$/);
  return new URL(window.page.url()).pathname.split("/").at(-1) ?? "";
}
