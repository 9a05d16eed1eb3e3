// The page for signing in.
import { KeyRound } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { FormFault } from "../parts/faults.tsx";
import type { PageProps } from "../parts/page.tsx";
import { canUsePasskeys, usePasskeySignIn } from "../parts/passkeys.ts";
import { PublicFrame } from "../parts/public-frame.tsx";
import { useSignIn } from "../parts/session.ts";
import { EMAIL, TextForm } from "../parts/text-form.tsx";

const PASSWORD = {
  name: "password",
  label: "Password",
  type: "password",
  autoComplete: "current-password",
} as const;

export default function SignInPage({ search }: PageProps<{ next: string | undefined }>) {
  const signIn = useSignIn(search.next);
  return (
    <PublicFrame title="Sign in">
      <TextForm
        isWide
        fields={[EMAIL, PASSWORD]}
        verb="Sign in"
        error={signIn.error}
        isBusy={signIn.isPending}
        onSubmit={(login) => signIn.mutate(login)}
      />
      {canUsePasskeys() && <PasskeySignIn next={search.next} />}
      <p className="mt-6 mb-0 text-sm text-soft">
        Locked out? On the machine that runs Pilvi,{" "}
        <code className="font-mono text-xs">pilvi console link</code> prints a link that lets you in once.
      </p>
    </PublicFrame>
  );
}

function PasskeySignIn({ next }: { next: string | undefined }) {
  const signIn = usePasskeySignIn(next);
  return (
    <div className="mt-3 flex flex-col gap-3">
      <Button isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
        <KeyRound size={15} aria-hidden />
        Sign in with a passkey
      </Button>
      <FormFault error={signIn.error} />
    </div>
  );
}
