// The buttons of an environment: deploy, restart, stop and start.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentResource } from "../../../sdk/index.ts";
import { type EnvironmentIds, environmentsOf, pathOf, useKeepEnvironment } from "./queries.ts";

interface ActionProps {
  environment: EnvironmentResource;
  ids: EnvironmentIds;
}

export function EnvironmentActions({ environment, ids }: ActionProps) {
  const current = environment.relationships.currentDeployment.data?.id;
  const isStopped = environment.attributes.status === "stopped";
  return (
    <>
      {isStopped ? <StartButton ids={ids} /> : <StopButton {...{ environment, ids }} />}
      {!isStopped && current !== undefined && (
        <DeployButton ids={ids} label="Restart" order={{ release_of: current }} />
      )}
      <DeployButton ids={ids} label="Deploy" order={{}} isPrimary />
    </>
  );
}

/** What is deployed: a commit, an earlier release, or the newest commit. */
export interface DeploymentOrder {
  commit_hash?: string;
  release_of?: string;
}

/** A button that begins a deployment, and opens its page. */
export function DeployButton(props: {
  ids: EnvironmentIds;
  label: string;
  order: DeploymentOrder;
  isPrimary?: boolean;
}) {
  const { ids, label, order, isPrimary = false } = props;
  const open = useOpenDeployment(ids);
  const deployment = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).deployments(ids.environmentId).create(order),
    onSuccess: async ({ data }) => await open(data.id),
  });
  return (
    <Button
      look={isPrimary ? "primary" : "plain"}
      isBusy={deployment.isPending}
      onClick={() => deployment.mutate()}
    >
      {label}
    </Button>
  );
}

function StartButton({ ids }: { ids: EnvironmentIds }) {
  const open = useOpenDeployment(ids);
  const start = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).start(ids.environmentId, { redeploy: true }),
    onSuccess: async ({ data }) => await open(data.id),
  });
  return (
    <Button isBusy={start.isPending} onClick={() => start.mutate()}>
      Start
    </Button>
  );
}

function StopButton({ environment, ids }: ActionProps) {
  const [isAsked, setAsked] = useState(false);
  const keep = useKeepEnvironment();
  const { name } = environment.attributes;
  const stop = useMutation({
    mutationFn: () => environmentsOf(ids.applicationId).stop(ids.environmentId),
    onSuccess: ({ data }) => {
      keep(data);
      notify({ title: `${name} is stopped.` });
    },
  });
  return (
    <>
      <Button onClick={() => setAsked(true)}>Stop</Button>
      <Confirm
        title={`Stop ${name}?`}
        text="Its address answers nothing until it is started again, and a deployment under way is cancelled."
        verb="Stop"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={async () => void (await stop.mutateAsync())}
      />
    </>
  );
}

function useOpenDeployment(ids: EnvironmentIds): (id: string) => Promise<void> {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async (id) => {
    await navigate({ to: `${pathOf(ids)}/deployments/${id}` });
    void cache.invalidateQueries({ queryKey: ["applications"] });
  };
}
