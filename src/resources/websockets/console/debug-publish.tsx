// The form that publishes a test event.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { faultsOf, FormFault } from "../../../console/parts/faults.tsx";
import { TextAreaField, TextField } from "../../../console/parts/field.tsx";
import { Section } from "../../../console/parts/layout.tsx";
import { counted } from "./debug-text.ts";

const FIELDS = ["channel", "name", "data"] as const;

export function PublishForm({ clusterId, id }: { clusterId: string; id: string }) {
  const [event, setEvent] = useState({ channel: "news", name: "greeting", data: '{"text": "hello"}' });
  const publishing = useMutation({
    mutationFn: () => client.websockets.applications(clusterId).publish(id, event),
    meta: { showsErrors: true },
  });
  const { data: answer, error, isPending, mutate } = publishing;
  const field = (name: (typeof FIELDS)[number]) => ({
    value: event[name],
    onChange: (value: string) => setEvent((old) => ({ ...old, [name]: value })),
    autoComplete: "off",
    spellCheck: false,
    faults: faultsOf(error, name),
  });
  const submit = (submission: FormEvent) => {
    submission.preventDefault();
    mutate();
  };
  return (
    <Section title="Publish an event" note="As a server of yours would.">
      <form noValidate className="flex max-w-2xl flex-col gap-3" onSubmit={submit}>
        <FormFault error={error} fields={FIELDS} />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField label="Channel" className="font-mono" {...field("channel")} />
          <TextField label="Event" className="font-mono" {...field("name")} />
        </div>
        <TextAreaField label="Data" note="JSON as a rule." rows={4} {...field("data")} />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" look="primary" isBusy={isPending}>
            Publish
          </Button>
          <p role="status" className="m-0 text-sm text-soft">
            {answer &&
              `Published ${answer.name} to ${counted(answer.subscription_count, "subscriber")} of ${answer.channel}.`}
          </p>
        </div>
      </form>
    </Section>
  );
}
