// A form that creates something, made from the API's schema, and the same request for a terminal beside it.
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Button, ButtonLink } from "./button.tsx";
import { curlText } from "./command.ts";
import { Code } from "./copy.tsx";
import { FormFault, useFaultInSight } from "./faults.tsx";
import {
  type ApiDocument,
  bodyOf,
  bodySchemaOf,
  type Field,
  fieldsOf,
  typesIn,
  type Value,
  type Values,
  valuesOf,
  withHiddenPasswords,
} from "./form-fields.ts";
import type { KindIdentity } from "./kind.ts";
import { Empty, Failure, Loading } from "./layout.tsx";
import { SchemaFields, useApiDocument, type ValueLabels } from "./schema-form.tsx";
import { useCan, useMe } from "./session.ts";

type Body = Record<string, unknown>;

/** What the form of a request needs to know of it. */
export interface CreateRequest {
  /** The path of the request below the API root, as the API's document names it. */
  path: string;
  /** The same request as a command; undefined when no command can say it. */
  commandOf: (body: Body) => string | undefined;
  labels?: ValueLabels;
  /** What the button says, such as `Run`; `Create` and the noun when left out. */
  verb?: string;
  /** The type that is chosen first. */
  firstType?: string;
  /** What fields hold at first that have no default of their own. */
  initial?: Values;
  /** Members of the request without a field. */
  hidden?: readonly string[];
  /** Members that take more than a plain field, such as lists, and their fields after all others. */
  more?: { members: Body; fields: (form: { document: ApiDocument; error: unknown }) => ReactNode };
}

interface CreateFormProps extends CreateRequest {
  noun: string;
  /** What stands for `{id}` in the path. */
  id?: string;
  /** Where Cancel leads. */
  cancelTo: string;
  /** Sends the request, and leads to what it made. */
  create: (body: Body) => Promise<void>;
}

/** These stay when another type is chosen. */
const KEPT = ["name", "region"];

/** These come first; the others follow in the order of the API. */
const FIRST = ["name", "type", "size", "max_connections", "region"];

/** Shows its children to sessions that may create something of the kind. */
export function CreateRight(props: { kind: KindIdentity; noun: string; children: ReactNode }) {
  const { kind, noun, children } = props;
  const { data: me } = useMe();
  const canWrite = useCan(`${kind.name}:write`);
  if (me === undefined) return <Loading lines={8} />;
  if (canWrite) return children;
  return (
    <Empty
      icon={kind.icon}
      title={`Your role creates no ${noun}s`}
      text="An owner or an admin of the organization can change your role on the page Members."
    />
  );
}

export function CreateForm(props: CreateFormProps) {
  const { data: document, error, refetch } = useApiDocument();
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {document === undefined && !error && <Loading lines={8} />}
      {document && <LoadedForm {...props} document={document} />}
    </>
  );
}

function LoadedForm(props: CreateFormProps & { document: ApiDocument }) {
  const { noun, verb = `Create ${noun}`, cancelTo, create, labels = {}, more, document } = props;
  const { fields, values, body, shownBody, typeLabels, change } = useRequest(props);
  const creation = useMutation({ mutationFn: () => create(body), meta: { showsErrors: true } });
  const { error, isPending } = creation;
  const form = useFaultInSight(error);
  const names = [...fields.map(({ name }) => name), ...Object.keys(more?.members ?? {})];
  return (
    <div className="grid grid-cols-1 gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
      <form
        ref={form}
        noValidate
        className="flex min-w-0 flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <FormFault error={error} fields={names} />
        <SchemaFields
          // A type without another type is no choice.
          fields={fields.filter(({ name, options }) => name !== "type" || options.length > 1)}
          values={values}
          onChange={change}
          error={error}
          labels={{ type: typeLabels, ...labels }}
        />
        {more?.fields({ document, error })}
        <div className="mt-2 flex gap-2">
          <Button type="submit" look="primary" isBusy={isPending}>
            {verb}
          </Button>
          <ButtonLink to={cancelTo}>Cancel</ButtonLink>
        </div>
      </form>
      <Terminal {...props} body={shownBody} />
    </div>
  );
}

/** What the form holds, and the body that it asks for. */
function useRequest({
  path,
  firstType,
  initial = {},
  hidden = [],
  more,
  document,
}: CreateFormProps & { document: ApiDocument }) {
  const [given, setGiven] = useState<Values>(initial);
  const schema = bodySchemaOf(document, "post", path);
  const types = typesIn(document, schema);
  const type = given.type ?? firstType ?? types[0]?.value;
  const fields = fieldsOf(document, schema, type)
    .filter(({ name }) => !hidden.includes(name))
    .toSorted((a: Field, b: Field) => rank(a.name) - rank(b.name));
  const values: Values = { ...given, ...(type !== undefined && { type }) };
  const said = Object.entries(more?.members ?? {}).filter(([, value]) => value !== undefined);
  const bodyWith = (those: Values) => ({ ...bodyOf(fields, those), ...Object.fromEntries(said) });
  const change = (name: string, value: Value) =>
    // Values of another type need not fit this type.
    setGiven(
      name === "type" ? { ...initial, ...valuesOf(KEPT, given), type: value } : { ...given, [name]: value },
    );
  const typeLabels = Object.fromEntries(types.map(({ value, label }) => [value, label]));
  const body = bodyWith(values);
  const shownBody = bodyWith(withHiddenPasswords(fields, values));
  return { fields, values, body, shownBody, typeLabels, change };
}

function rank(name: string): number {
  return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
}

function Terminal({ path, id = "", commandOf, body }: CreateFormProps & { body: Body }) {
  const command = commandOf(body);
  return (
    <aside
      aria-label="The same in a terminal"
      className="flex min-w-0 flex-col gap-3 lg:sticky lg:top-7 lg:self-start"
    >
      <h2 className="m-0 text-sm font-semibold">The same in a terminal</h2>
      {command === undefined ? (
        <p className="m-0 text-sm text-soft">No command says all of this; the request does.</p>
      ) : (
        <Code label="command" text={command} />
      )}
      <Code label="request" text={curlText(path.replace("{id}", id), body)} />
    </aside>
  );
}
