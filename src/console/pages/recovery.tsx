// The page of a link for a user who is locked out: sets a new password.
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useRedemption } from "../parts/session.ts";
import { NEW_PASSWORD, TextForm } from "../parts/text-form.tsx";

export default function RecoveryPage() {
  const redemption = useRedemption();
  return (
    <PublicFrame title="Set a new password" note="Every other session of the account ends.">
      <TextForm
        isWide
        fields={[{ ...NEW_PASSWORD, label: "New password" }]}
        verb="Set the password and sign in"
        error={redemption.error}
        isBusy={redemption.isPending}
        onSubmit={({ password }) => redemption.mutate({ secret: secretOfLink(), password })}
      />
    </PublicFrame>
  );
}
