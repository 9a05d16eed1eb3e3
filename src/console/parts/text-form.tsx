// A form of text fields whose faults stand at them, such as the login of an account.
import { type ReactNode, useState } from "react";
import { Button, type Look } from "./button.tsx";
import { faultsOf, FormFault } from "./faults.tsx";
import { TextField } from "./field.tsx";

/** A field by the name that the API gives it. */
interface TextFormField<Name extends string> {
  name: Name;
  label: string;
  type?: "text" | "email" | "password";
  autoComplete?: string;
  note?: ReactNode;
}

export const PERSON = { name: "name", label: "Your name", autoComplete: "name" } as const;
export const EMAIL = { name: "email", label: "E-mail", type: "email", autoComplete: "username" } as const;
export const NEW_PASSWORD = {
  name: "password",
  label: "Password",
  type: "password",
  autoComplete: "new-password",
  note: "At least 10 characters.",
} as const;

export function TextForm<Name extends string>(props: {
  fields: readonly TextFormField<Name>[];
  verb: string;
  look?: Look;
  /** What the fields hold at first. */
  initial?: Partial<Record<Name, string>>;
  /** The answer to the latest submit. */
  error: unknown;
  isBusy: boolean;
  onSubmit: (values: Record<Name, string>) => void;
  /** Whether the button is as wide as the fields, as on a page of a form alone. */
  isWide?: boolean;
  className?: string;
}) {
  const {
    fields,
    verb,
    look = "primary",
    initial,
    error,
    isBusy,
    onSubmit,
    isWide = false,
    className = "",
  } = props;
  const [given, setGiven] = useState<Partial<Record<string, string>>>(initial ?? {});
  const valueOf = (name: Name) => given[name] ?? "";
  return (
    <form
      noValidate
      className={`flex flex-col gap-4 ${className}`}
      onSubmit={(event) => {
        event.preventDefault();
        const values = fields.map(({ name }) => [name, valueOf(name)]);
        onSubmit(Object.fromEntries(values) as Record<Name, string>);
      }}
    >
      <FormFault error={error} fields={fields.map(({ name }) => name)} />
      {fields.map(({ name, ...field }) => (
        <TextField
          key={name}
          {...field}
          value={valueOf(name)}
          onChange={(value) => setGiven({ ...given, [name]: value })}
          faults={faultsOf(error, name)}
        />
      ))}
      <Button type="submit" look={look} isBusy={isBusy} className={isWide ? "" : "self-start"}>
        {verb}
      </Button>
    </form>
  );
}
