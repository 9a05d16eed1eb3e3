// Accounts of a Pilvi under test, made in the browser as people make them.
import type { TestBrowser } from "../clients/chromium.ts";
import { ConsolePage } from "./console-page.ts";
import type { TestPilvi } from "../pilvi/pilvi.ts";
import { resolve } from "node:path";

const MAIN = resolve(import.meta.dir, "../../../src/main.ts");

export const OWNER = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };

/** The path of a one-time link that `pilvi console link` prints, with its secret. */
export async function consoleLink(pilvi: TestPilvi): Promise<string> {
  const { stdout } = Bun.spawn([process.execPath, MAIN, "console", "link"], {
    env: pilvi.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [link] = /https?:\/\/\S+/.exec(await new Response(stdout).text()) ?? [];
  if (link === undefined) throw new Error("pilvi console link printed no link");
  const { pathname, hash } = new URL(link);
  return pathname + hash;
}

/** Makes the account of the owner, and waits for the overview. */
export async function makeOwner(window: ConsolePage, pilvi: TestPilvi): Promise<void> {
  await window.goto(await consoleLink(pilvi));
  await window.page.getByLabel("Your name").fill(OWNER.name);
  await window.page.getByLabel("E-mail").fill(OWNER.email);
  await window.page.getByLabel("Password").fill(OWNER.password);
  await window.page.getByRole("button", { name: "Make the account" }).click();
  await window.page.getByRole("heading", { name: "Overview" }).waitFor();
}

/** Invites a viewer, who makes an account in a window of their own and sees the overview there. */
export async function openViewer(chromium: TestBrowser, pilvi: TestPilvi): Promise<ConsolePage> {
  const answer = await pilvi.api<{ data: { attributes: { link: string } } }>("POST", "/invitations", {
    role: "viewer",
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  const { pathname, hash } = new URL(answer.body.data.attributes.link);
  const viewer = await ConsolePage.open(chromium, pilvi.url);
  await viewer.goto(pathname + hash);
  await viewer.page.getByLabel("Your name").fill("Vera");
  await viewer.page.getByLabel("E-mail").fill("vera@example.com");
  await viewer.page.getByLabel("Password").fill("another good password");
  await viewer.page.getByRole("button", { name: "Accept" }).click();
  await viewer.page.getByRole("heading", { name: "Overview" }).waitFor();
  return viewer;
}
