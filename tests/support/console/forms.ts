// Forms of the console, as tests fill them.
import type { Locator, Page } from "playwright-core";
import { until } from "../pilvi/pilvi.ts";

/** Waits until a field has a fault, and returns what is said at the field. */
export async function faultAt(field: Locator, label: string): Promise<string> {
  await until(
    `the fault of ${label} is shown`,
    async () => (await field.getAttribute("aria-invalid")) === "true",
  );
  const [fault = ""] = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
  return (await field.page().locator(`[id="${fault}"]`).textContent()) ?? "";
}

/** Types wrong values by the labels of their fields, submits, and waits until each field has a fault. */
export async function submitWrong(
  place: Locator,
  verb: string,
  values: Record<string, string>,
): Promise<void> {
  const fieldOf = (label: string) => place.getByLabel(label, { exact: true });
  for (const [label, value] of Object.entries(values)) await fieldOf(label).fill(value);
  await place.getByRole("button", { name: verb, exact: true }).click();
  for (const label of Object.keys(values)) {
    if ((await faultAt(fieldOf(label), label)) === "") throw new Error(`${label} has a fault without words`);
  }
}

/** What a button of this name copies, such as `command`. */
export async function copiedText(page: Page, label: string): Promise<string> {
  // After a click the button says for a moment that it has copied.
  await page
    .getByRole("button", { name: `Copy ${label}`, exact: true })
    .first()
    .click();
  return String(await page.evaluate("navigator.clipboard.readText()"));
}
