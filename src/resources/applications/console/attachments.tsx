// The page of the attachments of an environment: its database, its cache and its WebSocket application.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { faultsOf, FormFault } from "../../../console/parts/faults.tsx";
import { SelectField } from "../../../console/parts/field.tsx";
import { Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useAbilities } from "../../../console/parts/session.ts";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentResource } from "../../../sdk/index.ts";
import { attachedIn, type AttachmentSlot, SLOTS, useAttachables } from "./attachable.ts";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { type EnvironmentIds, environmentsOf, useKeepEnvironment } from "./queries.ts";

/** The chosen ids by field; a field that is left out stays as it is. */
type Choices = Partial<Record<AttachmentSlot["field"], string | null>>;

export default function AttachmentsPage({ params }: PageProps) {
  return (
    <EnvironmentFrame params={params}>
      {({ environment, ids }) => <Attachments key={environment.id} environment={environment} ids={ids} />}
    </EnvironmentFrame>
  );
}

function Attachments({ environment, ids }: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const [given, setGiven] = useState<Choices>({});
  const keep = useKeepEnvironment();
  const can = useAbilities();
  const canWrite = can("applications:write") && environment.attributes.status !== "deleting";
  const isChanged = SLOTS.some(
    (slot) => slot.field in given && given[slot.field] !== attachedIn(environment, slot),
  );
  const saving = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).update(ids.environmentId, given),
    meta: { showsErrors: true },
    onSuccess: ({ data }) => {
      keep(data);
      setGiven({});
      notify({ title: "The attachments are saved." });
    },
  });
  return (
    <Section
      title="Attachments"
      note="The application gets the address and the credentials of what is attached as variables, at its next start. A variable of its own with the same name goes before."
    >
      <form
        noValidate
        className="flex max-w-2xl flex-col gap-6"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <FormFault error={saving.error} fields={SLOTS.map(({ field }) => field)} />
        {SLOTS.map((slot) => {
          const chosen = given[slot.field];
          return (
            <SlotField
              key={slot.field}
              slot={slot}
              canWrite={canWrite}
              isReadable={can(slot.ability)}
              value={chosen === undefined ? attachedIn(environment, slot) : chosen}
              error={saving.error}
              onChange={(id) => setGiven({ ...given, [slot.field]: id })}
            />
          );
        })}
        {canWrite && (
          <div className="flex gap-2">
            <Button type="submit" look="primary" disabled={!isChanged} isBusy={saving.isPending}>
              Save
            </Button>
            {isChanged && <Button onClick={() => setGiven({})}>Discard</Button>}
          </div>
        )}
      </form>
    </Section>
  );
}

function SlotField(props: {
  slot: AttachmentSlot;
  canWrite: boolean;
  isReadable: boolean;
  value: string | null;
  error: unknown;
  onChange: (id: string | null) => void;
}) {
  const { slot, canWrite, isReadable, value, error, onChange } = props;
  const { data: found = [], isPending } = useAttachables(slot, isReadable);
  const labels = new Map(found.map(({ id, label }) => [id, label]));
  if (value !== null && !labels.has(value)) labels.set(value, isPending ? "…" : value);
  return (
    <div className="flex flex-col gap-2">
      {canWrite ? (
        <SelectField
          label={slot.label}
          value={value ?? ""}
          options={[
            { value: "", label: "None" },
            ...Array.from(labels, ([id, label]) => ({ value: id, label })),
          ]}
          faults={faultsOf(error, slot.field)}
          onChange={(id) => onChange(id === "" ? null : id)}
        />
      ) : (
        <p className="m-0">
          <span className="block text-sm font-medium">{slot.label}</span>
          {value === null ? "None" : labels.get(value)}
        </p>
      )}
      {value !== null && <VariableNames names={slot.variables} label={slot.label} />}
    </div>
  );
}

function VariableNames({ names, label }: { names: readonly string[]; label: string }) {
  return (
    <div>
      <p className="m-0 mb-1 text-xs text-soft">The application gets</p>
      <ul
        aria-label={`Variables of the ${label.toLowerCase()}`}
        className="m-0 flex list-none flex-wrap gap-1 p-0"
      >
        {names.map((name) => (
          <li key={name} className="rounded-sm bg-sunken px-1.5 py-0.5 font-mono text-xs">
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
