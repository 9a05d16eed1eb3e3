// The page of the link that the first start prints: makes the account of the owner.
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useRedemption } from "../parts/session.ts";
import { EMAIL, NEW_PASSWORD, PERSON, TextForm } from "../parts/text-form.tsx";

export default function WelcomePage() {
  const redemption = useRedemption();
  return (
    <PublicFrame
      title="Welcome to your cloud"
      note="This makes the first account. It owns everything that runs here, and can invite others."
    >
      <TextForm
        isWide
        fields={[PERSON, EMAIL, NEW_PASSWORD]}
        verb="Make the account"
        error={redemption.error}
        isBusy={redemption.isPending}
        onSubmit={(account) => redemption.mutate({ secret: secretOfLink(), ...account })}
      />
    </PublicFrame>
  );
}
