// Passkeys in the browser: whether there are any here, their creation, and the sign-in with one.
import { useMutation } from "@tanstack/react-query";
import type { PasskeyResource } from "../../sdk/index.ts";
import { client } from "./client.ts";
import { useOpen } from "./session.ts";

/** Browsers have passkeys over HTTPS and under localhost, and under no IP address. */
export function canUsePasskeys(): boolean {
  return isSecureContext && "PublicKeyCredential" in globalThis && !/^[\d.]+$|^\[/.test(location.hostname);
}

/** Has an authenticator make a passkey, and keeps it. @throws Error in words for people. */
export async function addPasskey(name: string): Promise<PasskeyResource> {
  const { data: optionsJSON } = await client.passkeys.options();
  const { startRegistration } = await import("@simplewebauthn/browser");
  const credential = await startRegistration({ optionsJSON: optionsJSON as never }).catch(explain);
  return (await client.passkeys.create({ ...(name !== "" && { name }), credential })).data;
}

/** Signs in with a passkey, and opens a page. @param next an address of this console. */
export function usePasskeySignIn(next: string | undefined) {
  const open = useOpen();
  return useMutation({
    mutationFn: async () => {
      const { data: optionsJSON } = await client.passkeys.signInOptions();
      const { startAuthentication } = await import("@simplewebauthn/browser");
      const credential = await startAuthentication({ optionsJSON: optionsJSON as never }).catch(explain);
      await client.passkeys.signIn({ credential });
    },
    meta: { showsErrors: true },
    onSuccess: async () => await open(next),
  });
}

/** The names of the browser's errors say what happened; its messages are for programmers. */
function explain(error: unknown): never {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError")
    throw new Error("No passkey was used: the browser or you ended the request.");
  if (name === "InvalidStateError") throw new Error("This device has a passkey for your account already.");
  throw error;
}
