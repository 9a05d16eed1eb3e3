// The page of an invitation: makes an account that is a member, or makes the present user a member.
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useAcceptance } from "../parts/session.ts";
import { EMAIL, NEW_PASSWORD, PERSON, TextForm } from "../parts/text-form.tsx";

export default function InvitationPage() {
  const acceptance = useAcceptance();
  return (
    <PublicFrame
      title="You are invited"
      note="Make an account, or give the address and password that you have."
    >
      <TextForm
        isWide
        fields={[PERSON, EMAIL, NEW_PASSWORD]}
        verb="Accept"
        error={acceptance.error}
        isBusy={acceptance.isPending}
        onSubmit={(account) => acceptance.mutate({ secret: secretOfLink(), ...given(account) })}
      />
    </PublicFrame>
  );
}

/** An empty field counts as left out. */
function given<Fields extends Record<string, string>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<Fields>;
}
