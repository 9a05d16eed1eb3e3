// The fields of a request as controls, with the faults that the API named at each of them.
import { useQuery } from "@tanstack/react-query";
import { faultsOf } from "./faults.tsx";
import { CheckField, SelectField, TextAreaField, TextField } from "./field.tsx";
import type { ApiDocument, Field, Value, Values } from "./form-fields.ts";

/** The height of a field for several lines. */
const LONG_ROWS = 5;

/** Names of values for people, by field and value. */
export type ValueLabels = Record<string, Record<string, string>>;

/** The bodies of requests in the OpenAPI document; it stays the same as long as the server runs. */
export function useApiDocument() {
  return useQuery<ApiDocument>({
    queryKey: ["openapi"],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const answer = await fetch("/openapi.json?part=requests", { signal });
      if (!answer.ok) throw new Error("The description of the API could not be read.");
      return (await answer.json()) as ApiDocument;
    },
  });
}

export function SchemaFields(props: {
  fields: readonly Field[];
  values: Values;
  onChange: (name: string, value: Value) => void;
  error: unknown;
  labels?: ValueLabels;
}) {
  const { fields, values, onChange, error, labels = {} } = props;
  return fields.map((field) => (
    <SchemaField
      key={field.name}
      field={field}
      // A value that was taken away shows none, and not what is in force.
      value={field.name in values ? values[field.name] : field.preset}
      faults={faultsOf(error, field.name)}
      labels={labels[field.name] ?? {}}
      onChange={(value) => onChange(field.name, value)}
    />
  ));
}

function SchemaField(props: {
  field: Field;
  value: Value;
  faults: readonly string[] | undefined;
  labels: Record<string, string>;
  onChange: (value: Value) => void;
}) {
  const { field, value, faults, labels, onChange } = props;
  // Options with names say enough; the description speaks of their values.
  const isNamed = Object.keys(labels).length > 0;
  const shared = { label: field.label, note: field.note && !isNamed && <Note text={field.note} />, faults };
  const isOptional = (field.preset === undefined || value === undefined) && !field.isRequired;
  if (field.control === "check")
    return <CheckField {...shared} isChecked={value === true} onChange={onChange} />;
  if (field.control === "select") {
    const options = field.options.map((each) => ({
      value: String(each),
      label: labels[each] ?? String(each),
    }));
    return (
      <SelectField
        {...shared}
        value={value === undefined ? "" : String(value)}
        options={
          isOptional || field.canBeTakenAway === true
            ? [{ value: "", label: "Default" }, ...options]
            : options
        }
        onChange={(text) => onChange(field.options.find((each) => String(each) === text))}
      />
    );
  }
  const text = value === undefined ? "" : String(value);
  const plain = { ...shared, autoComplete: "off", spellCheck: false, value: text };
  if (field.control === "lines")
    return <TextAreaField {...plain} rows={LONG_ROWS} onChange={(each) => onChange(each || undefined)} />;
  const isNumber = field.control === "number";
  const isPassword = field.control === "password";
  return (
    <TextField
      {...plain}
      type={field.control}
      step="any"
      min={field.min}
      max={field.max}
      placeholder={isOptional && !isPassword ? "Default" : undefined}
      autoComplete={isPassword ? "new-password" : "off"}
      onChange={(each) => onChange(valueOf(each, isNumber))}
    />
  );
}

function valueOf(text: string, isNumber: boolean): Value {
  if (text === "") return undefined;
  return isNumber ? Number(text) : text;
}

/** The API's descriptions mark code with backticks. */
export function Note({ text }: { text: string }) {
  // A name may stand in a text twice, so the key of each is its place.
  return [...text.matchAll(/`([^`]*)`|[^`]+/g)].map(({ 0: part, 1: code, index }) =>
    code === undefined ? (
      part
    ) : (
      <code key={index} className="font-mono">
        {code}
      </code>
    ),
  );
}
