// The webhooks of an application in its form: each with its address, the types of its events and its channels.
import { Plus } from "lucide-react";
import { useId } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { faultsOf as faultsAt, faultsWithin } from "../../../console/parts/faults.tsx";
import { CheckField, TextField } from "../../../console/parts/field.tsx";
import type { ApiDocument } from "../../../console/parts/form-fields.ts";
import type { WebsocketApplicationResource } from "../../../sdk/index.ts";

export type Webhook = WebsocketApplicationResource["attributes"]["webhooks"][number];
type EventType = Webhook["event_types"][number];

export function WebhooksField(props: {
  document: ApiDocument;
  webhooks: Webhook[];
  onChange: (webhooks: Webhook[]) => void;
  error: unknown;
}) {
  const { document, webhooks, onChange, error } = props;
  const types = eventTypesIn(document);
  const faultsId = useId();
  const faults = faultsAt(error, "webhooks") ?? [];
  return (
    <fieldset
      className="m-0 flex min-w-0 flex-col gap-3 border-0 p-0"
      aria-describedby={faults.length > 0 ? faultsId : undefined}
    >
      <legend className="mb-1 p-0 text-sm font-medium">Webhooks</legend>
      {webhooks.map((webhook, index) => (
        <WebhookFields
          // A webhook has no name but its place.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          number={index + 1}
          types={types}
          webhook={webhook}
          faultsOf={(member) => faultsWithin(error, `webhooks.${index}.${member}`)}
          onChange={(changed) => onChange(webhooks.with(index, changed))}
          onRemove={() => onChange(webhooks.toSpliced(index, 1))}
        />
      ))}
      <Faults id={faultsId} faults={faults} />
      <Button className="self-start" onClick={() => onChange([...webhooks, { url: "", event_types: types }])}>
        <Plus size={15} aria-hidden />
        Add a webhook
      </Button>
    </fieldset>
  );
}

interface WebhookProps {
  webhook: Webhook;
  faultsOf: (member: string) => readonly string[];
  onChange: (webhook: Webhook) => void;
}

function WebhookFields(props: WebhookProps & { number: number; types: EventType[]; onRemove: () => void }) {
  const { number, types, webhook, faultsOf, onChange, onRemove } = props;
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-3">
      <TextField
        label={`Address of webhook ${number}`}
        type="url"
        autoComplete="off"
        spellCheck={false}
        value={webhook.url}
        onChange={(url) => onChange({ ...webhook, url })}
        faults={faultsOf("url")}
      />
      <EventTypes {...{ types, webhook, onChange }} faults={faultsOf("event_types")} />
      <ChannelNames {...{ webhook, faultsOf, onChange }} />
      <CheckField
        label="Several events in a request"
        isChecked={webhook.batch_enabled === true}
        onChange={(isBatched) => onChange({ ...webhook, batch_enabled: isBatched })}
      />
      <Button className="self-start" onClick={onRemove}>
        Remove webhook {number}
      </Button>
    </div>
  );
}

function EventTypes(props: {
  types: EventType[];
  webhook: Webhook;
  faults: readonly string[];
  onChange: (webhook: Webhook) => void;
}) {
  const { types, webhook, faults, onChange } = props;
  const chosen = new Set(webhook.event_types);
  const choose = (type: EventType, isChosen: boolean) =>
    onChange({
      ...webhook,
      event_types: types.filter((each) => (each === type ? isChosen : chosen.has(each))),
    });
  return (
    <>
      <div className="grid grid-cols-1 gap-1 sm:grid-cols-2">
        {types.map((type) => (
          <CheckField
            key={type}
            label={type}
            isChecked={chosen.has(type)}
            onChange={(isChosen) => choose(type, isChosen)}
          />
        ))}
      </div>
      <Faults faults={faults} />
    </>
  );
}

function Faults({ id, faults }: { id?: string; faults: readonly string[] }) {
  if (faults.length === 0) return null;
  return (
    <p id={id} role="alert" className="m-0 text-sm text-bad">
      {faults.join(" ")}
    </p>
  );
}

const NAME_PARTS = [
  { part: "channel_name_starts_with", label: "Only channels that begin with" },
  { part: "channel_name_ends_with", label: "Only channels that end with" },
] as const;

/** The channels whose events the webhook receives; all where no part of their names is given. */
function ChannelNames({ webhook, faultsOf, onChange }: WebhookProps) {
  const { filter = {}, ...others } = webhook;
  const change = (part: string, text: string) => {
    const parts = Object.entries({ ...filter, [part]: text }).filter(([, given]) => given !== "");
    onChange(parts.length === 0 ? others : { ...others, filter: Object.fromEntries(parts) });
  };
  return NAME_PARTS.map(({ part, label }) => (
    <TextField
      key={part}
      label={label}
      autoComplete="off"
      spellCheck={false}
      value={filter[part] ?? ""}
      onChange={(text) => change(part, text)}
      faults={faultsOf(`filter.${part}`)}
    />
  ));
}

/** The types of events that a webhook can receive, as the API's schema names them. */
function eventTypesIn(document: ApiDocument): EventType[] {
  const members = document.components.schemas.WebsocketWebhook?.properties;
  return (members?.event_types?.items?.enum ?? []) as EventType[];
}
