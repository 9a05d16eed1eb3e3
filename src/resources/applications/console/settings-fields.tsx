// The fields of a group of settings; commands have several lines.
import { faultsOf } from "../../../console/parts/faults.tsx";
import { TextAreaField } from "../../../console/parts/field.tsx";
import type { Field, Value, Values } from "../../../console/parts/form-fields.ts";
import { Note, SchemaFields } from "../../../console/parts/schema-form.tsx";
import { isCommand } from "./settings-groups.ts";

interface FieldsProps {
  fields: readonly Field[];
  /** The values that differ from what is in force. */
  values: Values;
  error: unknown;
  onChange: (field: Field, value: Value) => void;
}

export function SettingsFields({ fields, values, error, onChange }: FieldsProps) {
  return fields.map((field) =>
    isCommand(field) ? (
      <TextAreaField
        key={field.name}
        label={field.label}
        note={field.note && <Note text={field.note} />}
        rows={2}
        placeholder="Found out from the code"
        spellCheck={false}
        value={String((field.name in values ? values[field.name] : field.preset) ?? "")}
        onChange={(text) => onChange(field, text === "" ? undefined : text)}
        faults={faultsOf(error, field.name)}
      />
    ) : (
      <SchemaFields
        key={field.name}
        fields={[field]}
        values={values}
        error={error}
        onChange={(_name, value) => onChange(field, value)}
      />
    ),
  );
}
