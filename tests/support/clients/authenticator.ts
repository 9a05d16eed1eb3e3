// An authenticator for passkeys in Chromium, which agrees to everything.
import type { CDPSession, Page } from "playwright-core";

/** Gives a page an authenticator with a lock of its own; it goes when the session of the debugger is detached. */
export async function addAuthenticator(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return devtools;
}
