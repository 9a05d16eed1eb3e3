// The purge of what the edge keeps of the answers of an environment.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Section } from "../../../console/parts/layout.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentResource } from "../../../sdk/index.ts";
import { type EnvironmentIds, environmentsOf, useKeepEnvironment } from "./queries.ts";

export function EdgeCachePurge(props: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const { environment, ids } = props;
  const { name } = environment.attributes;
  const [isAsked, setAsked] = useState(false);
  const keep = useKeepEnvironment();
  const purge = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).purgeEdgeCache(ids.environmentId),
    onSuccess: ({ data }) => {
      keep(data);
      notify({ title: `The edge cache of ${name} is purged.` });
    },
  });
  return (
    <Section
      title="Edge cache"
      note="The edge keeps answers that the application marks for it, for 5 minutes at most."
    >
      <Button onClick={() => setAsked(true)}>Purge edge cache</Button>
      <Confirm
        title={`Purge the edge cache of ${name}?`}
        text="The edge forgets all answers that it has kept so far, and asks the application again."
        verb="Purge"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={async () => void (await purge.mutateAsync())}
      />
    </Section>
  );
}
