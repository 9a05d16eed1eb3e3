// The page of the settings of an environment, made from the API's schema, with its deletion at the end.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { FormFault, useFaultInSight } from "../../../console/parts/faults.tsx";
import {
  type ApiDocument,
  bodySchemaOf,
  type Field,
  fieldsOf,
  type Value,
  type Values,
} from "../../../console/parts/form-fields.ts";
import { Empty, Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useApiDocument } from "../../../console/parts/schema-form.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentChange, EnvironmentResource } from "../../../sdk/index.ts";
import { EdgeCachePurge } from "./edge-cache-purge.tsx";
import { EnvironmentDeletion } from "./environment-deletion.tsx";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { type EnvironmentIds, environmentsOf, useKeepEnvironment } from "./queries.ts";
import { SettingsFields } from "./settings-fields.tsx";
import { changeOf, fieldsIn, GROUPS, LABELS, presentSettings } from "./settings-groups.ts";

interface SettingsProps {
  environment: EnvironmentResource;
  ids: EnvironmentIds;
}

export default function EnvironmentSettingsPage({ params }: PageProps) {
  const canWrite = useCan("applications:write");
  return (
    <EnvironmentFrame params={params}>
      {({ environment, ids }) => {
        if (environment.attributes.status === "deleting")
          return <Empty title="It is being deleted" text="Nothing can be changed any more." />;
        if (!canWrite)
          return (
            <Empty
              title="Your role changes no settings"
              text="An owner or an admin of the organization can change your role on the page Members."
            />
          );
        return (
          <>
            <Settings key={environment.id} environment={environment} ids={ids} />
            <EdgeCachePurge environment={environment} ids={ids} />
            <EnvironmentDeletion environment={environment} ids={ids} />
          </>
        );
      }}
    </EnvironmentFrame>
  );
}

function Settings(props: SettingsProps) {
  const { data: document, error, refetch } = useApiDocument();
  if (document !== undefined) return <SettingsForm {...props} document={document} />;
  return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={10} />;
}

function SettingsForm({ environment, ids, document }: SettingsProps & { document: ApiDocument }) {
  const [given, setGiven] = useState<Values>({});
  const keep = useKeepEnvironment();
  const present = presentSettings(environment);
  const fields = settingsFields(document, present);
  const saving = useMutation({
    mutationFn: (change: EnvironmentChange) =>
      environmentsOf(ids.applicationId).update(ids.environmentId, change),
    meta: { showsErrors: true },
    onSuccess: ({ data }) => {
      keep(data);
      setGiven({});
      notify({ title: `${data.attributes.name} is changed.` });
    },
  });
  const form = useFaultInSight(saving.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The API checks the body; the form is made from its schema.
    saving.mutate(changeOf(given, present) as EnvironmentChange);
  };
  const give = ({ name, preset }: Field, value: Value) => {
    const { [name]: _former, ...others } = given;
    setGiven(value === preset ? others : { ...others, [name]: value });
  };
  return (
    <form ref={form} noValidate onSubmit={submit}>
      <FormFault error={saving.error} fields={fields.map(({ name }) => name)} />
      {GROUPS.map((group) => (
        <Section key={group.title} title={group.title} note={group.note}>
          <div className="flex max-w-2xl flex-col gap-4">
            <SettingsFields
              fields={fieldsIn(group, fields)}
              values={given}
              error={saving.error}
              onChange={give}
            />
          </div>
        </Section>
      ))}
      <SaveBar
        isChanged={Object.keys(given).length > 0}
        isBusy={saving.isPending}
        onDiscard={() => setGiven({})}
      />
    </form>
  );
}

/** Stays in sight, as the form is long. */
function SaveBar(props: { isChanged: boolean; isBusy: boolean; onDiscard: () => void }) {
  const { isChanged, isBusy, onDiscard } = props;
  return (
    <div className="sticky bottom-0 mb-8 flex gap-2 border-t border-line bg-paper py-3">
      <Button type="submit" look="primary" disabled={!isChanged} isBusy={isBusy}>
        Save
      </Button>
      {isChanged && <Button onClick={onDiscard}>Discard</Button>}
    </div>
  );
}

/** The fields of the request with what they hold now; attachments have a page of their own. */
function settingsFields(document: ApiDocument, present: Record<string, unknown>): Field[] {
  return fieldsOf(document, bodySchemaOf(document, "patch", "/environments/{id}"), undefined)
    .filter(({ name }) => name in present)
    .map((field) => withValue(field, present[field.name]));
}

function withValue(field: Field, value: unknown): Field {
  return {
    ...field,
    label: LABELS[field.name] ?? field.label,
    // Null in a request is an empty field here.
    note: field.note?.replace(/\bnull\b/, "empty").replace(/\bNull\b/, "Empty"),
    preset: value === null ? undefined : (value as Value),
    isRequired: !NULLABLE.has(field.name),
    canBeTakenAway: NULLABLE.has(field.name),
  };
}

const NULLABLE = new Set([
  "node_version",
  "php_version",
  "health_path",
  "serving_mode",
  "serving_root",
  "serving_fallback",
  "firewall_rate_limit_level",
  "firewall_rate_limit_per_minute",
]);
