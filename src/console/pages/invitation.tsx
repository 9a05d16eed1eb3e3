// The page of an invitation: makes an account that is a member, or makes the present user a member.
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { faultsOf, FormFault } from "../parts/faults.tsx";
import { TextField } from "../parts/field.tsx";
import { PublicFrame } from "../parts/public-frame.tsx";
import { secretOfLink, useAcceptance } from "../parts/session.ts";

const FIELDS = ["name", "email", "password"];

export default function InvitationPage() {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const acceptance = useAcceptance();
  const faults = (field: string) => faultsOf(acceptance.error, field);
  return (
    <PublicFrame
      title="You are invited"
      note="Make an account, or give the address and password that you have."
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          acceptance.mutate({ secret: secretOfLink(), ...given({ name, email, password }) });
        }}
      >
        <FormFault error={acceptance.error} fields={FIELDS} />
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
        <Button type="submit" look="primary" isBusy={acceptance.isPending}>
          Accept
        </Button>
      </form>
    </PublicFrame>
  );
}

/** An empty field counts as left out. */
function given<Fields extends Record<string, string>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<Fields>;
}
