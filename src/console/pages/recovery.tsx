// The page of a link for a user who is locked out: sets a new password.
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { faultsOf, FormFault } from "../parts/faults.tsx";
import { TextField } from "../parts/field.tsx";
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useRedemption } from "../parts/session.ts";

export default function RecoveryPage() {
  const [password, setPassword] = useState("");
  const redemption = useRedemption();
  return (
    <PublicFrame title="Set a new password" note="Every other session of the account ends.">
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          redemption.mutate({ secret: secretOfLink(), password });
        }}
      >
        <FormFault error={redemption.error} fields={["password"]} />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          note="At least 10 characters."
          value={password}
          onChange={setPassword}
          faults={faultsOf(redemption.error, "password")}
        />
        <Button type="submit" look="primary" isBusy={redemption.isPending}>
          Set the password and sign in
        </Button>
      </form>
    </PublicFrame>
  );
}
