// A new password for a resource, and the former password while it is still valid.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { RotationOptions } from "../../sdk/index.ts";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { ResourceAction } from "./resource-detail.tsx";
import { keepResource } from "./resources.ts";
import { RotateButton } from "./rotate-button.tsx";
import { useCan } from "./session.ts";
import { Ago, Moment } from "./time.tsx";

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
  const cache = useQueryClient();
  if (!canWrite) return null;
  return (
    <RotateButton
      noun="password"
      atOnce={atOnce}
      rotate={async (graceSeconds) => keepResource(cache, kind, (await rotate({ graceSeconds })).data)}
    />
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
