// The page of the link that the first start prints: makes the account of the owner.
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { faultsOf, FormFault } from "../parts/faults.tsx";
import { TextField } from "../parts/field.tsx";
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useRedemption } from "../parts/session.ts";

const FIELDS = ["name", "email", "password"];

export default function WelcomePage() {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const redemption = useRedemption();
  const faults = (field: string) => faultsOf(redemption.error, field);
  return (
    <PublicFrame
      title="Welcome to your cloud"
      note="This makes the first account. It owns everything that runs here, and can invite others."
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          redemption.mutate({ secret: secretOfLink(), name, email, password });
        }}
      >
        <FormFault error={redemption.error} fields={FIELDS} />
        <TextField
          label="Your name"
          autoComplete="name"
          value={name}
          onChange={setName}
          faults={faults("name")}
        />
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          faults={faults("email")}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          note="At least 10 characters."
          value={password}
          onChange={setPassword}
          faults={faults("password")}
        />
        <Button type="submit" look="primary" isBusy={redemption.isPending}>
          Make the account
        </Button>
      </form>
    </PublicFrame>
  );
}
