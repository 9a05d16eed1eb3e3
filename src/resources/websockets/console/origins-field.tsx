// The field for the origins from which web pages may connect to an application, each on a line of its own.
import { faultsWithin } from "../../../console/parts/faults.tsx";
import { TextAreaField } from "../../../console/parts/field.tsx";

const NOTE =
  "Where web pages may connect from, each on a line of its own: hosts such as example.com or *.example.com. " +
  "Without any, all origins are allowed.";

export function OriginsField(props: { text: string; onChange: (text: string) => void; error: unknown }) {
  const { text, onChange, error } = props;
  return (
    <TextAreaField
      label="Allowed origins"
      note={NOTE}
      rows={3}
      spellCheck={false}
      value={text}
      onChange={onChange}
      faults={faultsWithin(error, "allowed_origins")}
    />
  );
}

/** The origins in the text of the field. */
export function originsIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
