// The page that creates a resource: a form made from the API's schema, and the same request for a terminal beside it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button, ButtonLink } from "./button.tsx";
import { Code } from "./copy.tsx";
import { FormFault } from "./faults.tsx";
import {
  type ApiDocument,
  bodyOf,
  bodySchemaOf,
  fieldsOf,
  typesIn,
  type Value,
  type Values,
} from "./form-fields.ts";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { Empty, Failure, Loading, PageFrame } from "./layout.tsx";
import { keepResource } from "./resources.ts";
import { SchemaFields, useApiDocument, type ValueLabels } from "./schema-form.tsx";
import { useCan, useMe } from "./session.ts";

interface CreateProps {
  kind: KindIdentity;
  /** The path of the request below the API root. */
  path: string;
  create: (body: Record<string, unknown>) => Promise<{ data: ConsoleResource }>;
  /** The same request as a command. */
  commandOf: (body: Record<string, unknown>) => string;
  labels?: ValueLabels;
  /** The type that is chosen first. */
  firstType?: string;
  /** Members of the request without a field. */
  hidden?: readonly string[];
}

/** These come first; the others follow in the order of the API. */
const FIRST = ["name", "type", "size", "max_connections", "region"];

export function ResourceCreatePage(props: CreateProps) {
  const { kind } = props;
  const { data: me } = useMe();
  const canWrite = useCan(`${kind.name}:write`);
  return (
    <PageFrame title={`Create ${kind.noun}`} back={{ to: kind.path, label: kind.plural }}>
      {me === undefined && <Loading lines={8} />}
      {me && !canWrite && (
        <Empty
          icon={kind.icon}
          title={`Your role creates no ${kind.noun}s`}
          text="An owner or an admin of the organization can change your role on the page Members."
        />
      )}
      {me && canWrite && <Creation {...props} />}
    </PageFrame>
  );
}

function Creation(props: CreateProps) {
  const { data: document, error, refetch } = useApiDocument();
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {document === undefined && !error && <Loading lines={8} />}
      {document && <CreateForm {...props} document={document} />}
    </>
  );
}

function CreateForm(props: CreateProps & { document: ApiDocument }) {
  const { kind, path, create, commandOf, labels = {}, firstType, document } = props;
  const [given, setGiven] = useState<Values>({});
  const schema = bodySchemaOf(document, "post", path);
  const types = typesIn(document, schema);
  const type = given.type ?? firstType ?? types[0]?.value;
  const fields = orderedFields(props, fieldsOf(document, schema, type));
  const values: Values = { ...given, ...(type !== undefined && { type }) };
  const body = bodyOf(fields, values);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: () => create(body),
    meta: { showsErrors: true },
    onSuccess: async ({ data }) => {
      keepResource(cache, kind, data);
      await navigate({ to: `${kind.path}/${data.id}` });
    },
  });
  const change = (name: string, value: Value) =>
    // Values of another type need not fit this type.
    setGiven(
      name === "type" ? { name: given.name, region: given.region, type: value } : { ...given, [name]: value },
    );
  const typeLabels = Object.fromEntries(types.map(({ value, label }) => [value, label]));
  return (
    <div className="grid grid-cols-1 gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <FormFault error={creation.error} fields={fields.map(({ name }) => name)} />
        <SchemaFields
          // A type without another type is no choice.
          fields={fields.filter(({ name, options }) => name !== "type" || options.length > 1)}
          values={values}
          onChange={change}
          error={creation.error}
          labels={{ type: typeLabels, ...labels }}
        />
        <div className="mt-2 flex gap-2">
          <Button type="submit" look="primary" isBusy={creation.isPending}>
            Create {kind.noun}
          </Button>
          <ButtonLink to={kind.path}>Cancel</ButtonLink>
        </div>
      </form>
      <aside
        aria-label="The same in a terminal"
        className="flex flex-col gap-3 min-w-0 lg:sticky lg:top-7 lg:self-start"
      >
        <h2 className="m-0 text-sm font-semibold">The same in a terminal</h2>
        <Code label="command" text={commandOf(body)} />
        <Code label="request" text={curlOf(path, body)} />
      </aside>
    </div>
  );
}

function rank(name: string): number {
  return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
}

function orderedFields({ hidden = [] }: CreateProps, fields: ReturnType<typeof fieldsOf>) {
  return fields.filter(({ name }) => !hidden.includes(name)).toSorted((a, b) => rank(a.name) - rank(b.name));
}

function curlOf(path: string, body: Record<string, unknown>): string {
  return [
    `curl ${location.origin}/api${path} \\`,
    `  -H "Authorization: Bearer $PILVI_TOKEN" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
  ].join("\n");
}
