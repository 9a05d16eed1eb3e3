// A new password for a resource, and the former password while it is still valid.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import type { RotationOptions } from "../../sdk/index.ts";
import { Button } from "./button.tsx";
import { Modal } from "./dialog.tsx";
import { SelectField } from "./field.tsx";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { ResourceAction } from "./resource-detail.tsx";
import { keepResource } from "./resources.ts";
import { useCan } from "./session.ts";
import { Ago, Moment } from "./time.tsx";
import { notify } from "./toasts.tsx";

/** Time for programs that run to get the new password. */
const USUAL_GRACE = "3600";

const GRACES = [
  { value: "0", label: "Refused at once" },
  { value: USUAL_GRACE, label: "Valid for another hour" },
  { value: "86400", label: "Valid for another day" },
  { value: "604800", label: "Valid for another week" },
];

/** The longest time that a timer of a browser takes. */
const LONGEST_TIMER_MS = 2_147_483_647;

type Rotated = ConsoleResource & { meta: { former_credentials: { expires_at: string } | null } };

interface RotationProps<Resource extends Rotated> {
  kind: KindIdentity<Resource>;
  rotate: (options: RotationOptions) => Promise<{ data: Resource }>;
  /** What happens to connections when the former password is refused at once. */
  atOnce: string;
}

/** The button for a new password, with its dialog. */
export function Rotation<Resource extends Rotated>({ kind, rotate, atOnce }: RotationProps<Resource>) {
  const canWrite = useCan(`${kind.name}:write`);
  const [isOpen, setOpen] = useState(false);
  const [grace, setGrace] = useState(USUAL_GRACE);
  const cache = useQueryClient();
  const rotation = useMutation({
    mutationFn: () => rotate({ graceSeconds: Number(grace) }),
    onSuccess: ({ data }) => {
      keepResource(cache, kind, data);
      notify({ title: "The new password is on its way." });
      setOpen(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotation.mutate();
  };
  if (!canWrite) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>New password</Button>
      <Modal title="Make a new password?" isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={submit}>
          <SelectField
            label="The present password is"
            value={grace}
            options={GRACES}
            onChange={setGrace}
            note={grace === "0" ? atOnce : "Both passwords work meanwhile, and connections stay open."}
          />
          <div className="mt-5 flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="danger" isBusy={rotation.isPending}>
              New password
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}

/** Until when the former password is valid, with a button that ends that. */
export function FormerPassword<Resource extends Rotated>(props: {
  kind: KindIdentity<Resource>;
  resource: Resource;
  endGrace: () => Promise<{ data: Resource }>;
}) {
  const { kind, resource, endGrace } = props;
  const canWrite = useCan(`${kind.name}:write`);
  const at = resource.meta.former_credentials?.expires_at;
  const isOver = useIsOver(at);
  if (at === undefined || isOver) return null;
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm">
      <p className="m-0">
        The former password is valid until <Moment at={at} /> (<Ago at={at} />
        ).
      </p>
      {canWrite && (
        <ResourceAction
          kind={kind}
          label="Refuse it now"
          act={endGrace}
          done="The former password is refused."
        />
      )}
    </div>
  );
}

/** Whether a moment has passed; draws anew when it does. */
function useIsOver(at: string | undefined): boolean {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return undefined;
    const leftMs = Math.max(0, Date.parse(at) - Date.now());
    const timer = setTimeout(() => setNow(Date.now()), Math.min(leftMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  }, [at]);
  return at !== undefined && Date.parse(at) <= now;
}
