// The deletion of an environment, for which its name is typed.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Section } from "../../../console/parts/layout.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentResource } from "../../../sdk/index.ts";
import { type EnvironmentIds, environmentsOf } from "./queries.ts";

export function EnvironmentDeletion(props: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const { environment, ids } = props;
  const { name } = environment.attributes;
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const deletion = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).delete(ids.environmentId),
    onSuccess: async () => {
      await navigate({ to: `/applications/${ids.applicationId}` });
      notify({ title: `${name} is being deleted.` });
      void cache.invalidateQueries({ queryKey: ["applications"] });
    },
  });
  return (
    <Section
      title="Delete"
      note="Deletes the environment with its releases, its variables and its logs. What is attached to it stays. This cannot be taken back."
    >
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete this environment
      </Button>
      <Confirm
        title={`Delete ${name}?`}
        text="Its address answers nothing any more, and all of its releases are lost."
        verb="Delete"
        name={name}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => await deletion.mutateAsync()}
      />
    </Section>
  );
}
