// The page for signing in.
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { faultsOf, FormFault } from "../parts/faults.tsx";
import { TextField } from "../parts/field.tsx";
import type { PageProps } from "../parts/page.tsx";
import { PublicFrame } from "../parts/public-frame.tsx";
import { useSignIn } from "../parts/session.ts";

export default function SignInPage({ search }: PageProps<{ next: string | undefined }>) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useSignIn(search.next);
  return (
    <PublicFrame title="Sign in">
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate({ email, password });
        }}
      >
        <FormFault error={signIn.error} />
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username webauthn"
          value={email}
          onChange={setEmail}
          faults={faultsOf(signIn.error, "email")}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          faults={faultsOf(signIn.error, "password")}
        />
        <Button type="submit" look="primary" isBusy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      <p className="mt-6 mb-0 text-sm text-soft">
        Locked out? On the machine that runs Pilvi,{" "}
        <code className="font-mono text-xs">pilvi console link</code> prints a link that lets you in once.
      </p>
    </PublicFrame>
  );
}
