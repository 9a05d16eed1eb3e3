// The settings of a WebSocket application: the fields of the API's schema, the origins by line, and the webhooks.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Modal } from "../../../console/parts/dialog.tsx";
import { FormFault, useFaultInSight } from "../../../console/parts/faults.tsx";
import {
  type ApiDocument,
  type Field,
  bodySchemaOf,
  fieldsOf,
  type Value,
  type Values,
} from "../../../console/parts/form-fields.ts";
import { SchemaFields, useApiDocument } from "../../../console/parts/schema-form.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import type { WebsocketApplicationChange, WebsocketApplicationResource } from "../../../sdk/index.ts";
import { OriginsField, originsIn } from "./origins-field.tsx";
import { WebhooksField } from "./webhooks-field.tsx";

const PATH = "/websocket-applications/{id}";

type Attributes = WebsocketApplicationResource["attributes"];

interface SettingsProps {
  attributes: Attributes;
  /** Changes the application, and brings what the page shows up to date. */
  save: (change: WebsocketApplicationChange) => Promise<void>;
}

/** The button for the settings, with their dialog. */
export function ApplicationSettings({ attributes, save }: SettingsProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: document } = useApiDocument();
  const close = () => setOpen(false);
  return (
    <>
      <Button disabled={document === undefined} onClick={() => setOpen(true)}>
        Settings
      </Button>
      <Modal title={`Settings of ${attributes.name}`} isOpen={isOpen} onClose={close}>
        {document !== undefined && (
          <SettingsForm document={document} onClose={close} {...{ attributes, save }} />
        )}
      </Modal>
    </>
  );
}

function SettingsForm(props: SettingsProps & { document: ApiDocument; onClose: () => void }) {
  const { attributes, save, document, onClose } = props;
  const settings = useSettings(document, attributes);
  const saving = useMutation({
    mutationFn: () => save(settings.change),
    meta: { showsErrors: true },
    onSuccess: () => {
      notify({ title: `${attributes.name} is being changed.` });
      onClose();
    },
  });
  const form = useFaultInSight(saving.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form ref={form} noValidate className="flex flex-col gap-4" onSubmit={submit}>
      <FormFault error={saving.error} fields={settings.names} />
      <SchemaFields
        fields={settings.fields}
        values={settings.given}
        error={saving.error}
        onChange={settings.give}
      />
      <OriginsField text={settings.origins} onChange={settings.setOrigins} error={saving.error} />
      <WebhooksField
        document={document}
        webhooks={settings.webhooks}
        onChange={settings.setWebhooks}
        error={saving.error}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" disabled={!settings.isChanged} isBusy={saving.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

/**
 * What the form holds, and the change that it asks for. Newer attributes do not come into an open form: what others
 * change meanwhile would look like a change that is to be taken back.
 */
export function useSettings(document: ApiDocument, current: Attributes) {
  const [attributes] = useState(current);
  const formerOrigins = attributes.allowed_origins.join("\n");
  const [given, setGiven] = useState<Values>({});
  const [origins, setOrigins] = useState(formerOrigins);
  const [webhooks, setWebhooks] = useState(attributes.webhooks);
  const present = attributes as Record<string, unknown>;
  const fields = fieldsOf(document, bodySchemaOf(document, "patch", PATH), undefined).map((field) =>
    withValue(field, present[field.name] as Value),
  );
  const change: WebsocketApplicationChange = {
    ...Object.fromEntries(
      fields
        .filter(({ name, preset }) => name in given && given[name] !== preset)
        .map(({ name }) => [name, given[name] ?? null]),
    ),
    ...(origins !== formerOrigins && { allowed_origins: originsIn(origins) }),
    ...(webhooks !== attributes.webhooks && { webhooks }),
  };
  const give = (name: string, value: Value) => setGiven({ ...given, [name]: value });
  const isChanged = Object.keys(change).length > 0;
  const names = [...fields.map(({ name }) => name), "allowed_origins", "webhooks"];
  return { fields, names, given, give, origins, setOrigins, webhooks, setWebhooks, change, isChanged };
}

/** A change may leave out every member, but an application has them all. */
function withValue(field: Field, preset: Value): Field {
  return { ...field, preset, isRequired: true };
}
