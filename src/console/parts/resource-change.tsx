// The form that changes a resource, made from the API's schema; only values that differ are sent.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "./button.tsx";
import { FormFault } from "./faults.tsx";
import { bodySchemaOf, type Field, fieldsOf, type Value, type Values, valuesSince } from "./form-fields.ts";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { Section } from "./layout.tsx";
import { keepResource } from "./resources.ts";
import { SchemaFields, useApiDocument, type ValueLabels } from "./schema-form.tsx";
import { notify } from "./toasts.tsx";

interface ChangeProps<Resource extends ConsoleResource> {
  kind: KindIdentity<Resource>;
  resource: Resource;
  /** The path of the request below the API root, with `{id}`. */
  path: string;
  change: (body: Record<string, unknown>) => Promise<{ data: Resource }>;
  /** What a field holds now, by its name. */
  valueOf: (name: string) => unknown;
  /** Leaves out what the type of this resource does not have, and narrows options. */
  adapt?: (field: Field) => Field | undefined;
  /** In place of the fields of the schema, where it leaves open what this type has. */
  fields?: readonly Field[];
  labels?: ValueLabels;
}

export function ResourceChange<Resource extends ConsoleResource>(props: ChangeProps<Resource>) {
  const { kind, resource, path, change, valueOf, adapt = (field) => field, labels = {} } = props;
  const { data: document } = useApiDocument();
  const [given, setGiven] = useState<Values>({});
  const cache = useQueryClient();
  const changing = useMutation({
    mutationFn: ({ body }: { body: Record<string, unknown>; sent: Values }) => change(body),
    meta: { showsErrors: true },
    onSuccess: ({ data }, { sent }) => {
      keepResource(cache, kind, data);
      // What was typed while the change was under way stays.
      setGiven((present) => valuesSince(sent, present));
      notify({ title: `${resource.attributes.name} is being changed.` });
    },
  });
  if (document === undefined) return null;
  const schema = bodySchemaOf(document, "patch", path);
  const fields = (props.fields ?? fieldsOf(document, schema, resource.attributes.type))
    .map((field) => adapt({ ...field, preset: presentValue(valueOf(field.name)) }))
    .filter((field) => field !== undefined);
  const changed = fields.filter(({ name, preset }) => name in given && given[name] !== preset);
  return (
    <Section title="Settings">
      <form
        noValidate
        className="flex max-w-xl flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          changing.mutate({ body: changesOf(changed, given), sent: given });
        }}
      >
        <FormFault error={changing.error} fields={fields.map(({ name }) => name)} />
        <SchemaFields
          fields={fields}
          values={given}
          error={changing.error}
          labels={labels}
          onChange={(name: string, value: Value) => setGiven((present) => ({ ...present, [name]: value }))}
        />
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={changed.length === 0} isBusy={changing.isPending}>
            Save
          </Button>
          {changed.length > 0 && <Button onClick={() => setGiven({})}>Discard</Button>}
        </div>
      </form>
    </Section>
  );
}

function presentValue(value: unknown): Value {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

/** Null takes a value away that can be absent. */
function changesOf(fields: readonly Field[], given: Values): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name } of fields) {
    const value = given[name] ?? null;
    const [first = name, member] = name.split(".");
    if (member === undefined) body[first] = value;
    else body[first] = { ...(body[first] as object | undefined), [member]: value };
  }
  return body;
}
