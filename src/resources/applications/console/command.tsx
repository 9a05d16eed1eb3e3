// The page of a command: its output as it comes, how it ended, and what can be done next.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Code } from "../../../console/parts/copy.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Empty, Facts, Failure, Loading, PageFrame, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import { type CommandResource, PilviError } from "../../../sdk/index.ts";
import { commandsOf, useCommand, useCommandOutput } from "./command-queries.ts";
import { commandState, firstLineOf, isOpenCommand } from "./command-texts.ts";
import { initiatorOf } from "./deployment-texts.ts";
import { FailureReason } from "./failure-reason.tsx";
import { Output } from "./output.tsx";
import { type EnvironmentIds, pathOf, useMemberNames } from "./queries.ts";
import { RunLength } from "./run-length.tsx";

interface CommandProps {
  command: CommandResource;
  ids: EnvironmentIds;
}

export default function CommandPage({ params }: PageProps) {
  const { id: applicationId = "", environment: environmentId = "", command: id = "" } = params;
  const ids = { applicationId, environmentId };
  const { data: command, error, refetch } = useCommand(ids, id);
  const back = { to: `${pathOf(ids)}/commands`, label: "Commands" };
  if (error instanceof PilviError && error.status === 404) {
    return (
      <PageFrame title="No such command" back={back}>
        <Empty title="This command is not there" text="The latest 100 of an environment are kept." />
      </PageFrame>
    );
  }
  if (command === undefined) {
    return (
      <PageFrame title="…" back={back}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={8} />}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={firstLineOf(command)}
      back={back}
      beside={
        <span role="status">
          <Status status={commandState(command)} />
        </span>
      }
      actions={<Actions {...{ command, ids }} />}
    >
      <FailureReason text={command.attributes.failure_reason} />
      <Section title="Command">
        <Code label="text of the command" text={command.attributes.command} />
      </Section>
      <OutputSection {...{ command, ids }} />
      <CommandFacts command={command} />
    </PageFrame>
  );
}

function Actions({ command, ids }: CommandProps) {
  const canWrite = useCan("applications:write");
  if (!canWrite) return null;
  return isOpenCommand(command) ? (
    <CancelButton {...{ command, ids }} />
  ) : (
    <AgainButton {...{ command, ids }} />
  );
}

function CancelButton({ command, ids }: CommandProps) {
  const [isAsked, setAsked] = useState(false);
  const cache = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => commandsOf(ids).cancel(command.id),
    onSuccess: async () => await cache.invalidateQueries({ queryKey: ["applications"] }),
  });
  return (
    <>
      <Button onClick={() => setAsked(true)}>Cancel the command</Button>
      <Confirm
        title="Cancel the command?"
        text="Its processes end at once. What it has done so far stays."
        verb="Cancel the command"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={async () => void (await cancelling.mutateAsync())}
      />
    </>
  );
}

function AgainButton({ command, ids }: CommandProps) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const again = useMutation({
    mutationFn: () => commandsOf(ids).create({ command: command.attributes.command }),
    onSuccess: async ({ data }) => {
      await navigate({ to: `${pathOf(ids)}/commands/${data.id}` });
      void cache.invalidateQueries({ queryKey: ["applications"] });
    },
  });
  return (
    <Button isBusy={again.isPending} onClick={() => again.mutate()}>
      Run again
    </Button>
  );
}

function OutputSection({ command, ids }: CommandProps) {
  const isReadable = useCan("applications:credentials");
  const { data, error, refetch } = useCommandOutput(ids, command.id, isReadable);
  const isWaiting = isOpenCommand(command) || data?.isComplete !== true;
  if (command.attributes.terminal)
    return (
      <Section title="Output">
        <p className="m-0 text-soft">It runs in a terminal, whose output is not kept.</p>
      </Section>
    );
  return (
    <Section title="Output">
      {!isReadable && <p className="m-0 text-soft">Your role does not show the output of commands.</p>}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {isReadable && !error && !data?.text && (
        <p className="m-0 text-soft">
          {isWaiting ? "It has written nothing yet." : "It has written nothing."}
        </p>
      )}
      {data?.text && <Output output={data.text} label="Output of the command" />}
    </Section>
  );
}

function CommandFacts({ command }: { command: CommandResource }) {
  const members = useMemberNames();
  const { started_at: startedAt, exit_code: code } = command.attributes;
  const facts: [string, ReactNode][] = [
    ["Run by", initiatorOf(command, members) ?? "a token"],
    ["Begun", startedAt === null ? "not yet" : <Moment key="begun" at={startedAt} />],
    ["Duration", startedAt === null ? "not begun" : <RunLength key="length" run={command} />],
    ["Exit code", code === null ? "none" : String(code)],
    ["Id", <Id key="id" text={command.id} />],
    ["Release", <Id key="release" text={command.relationships.deployment.data.id} />],
  ];
  return (
    <Section title="About">
      <Facts facts={facts} />
    </Section>
  );
}

function Id({ text }: { text: string }) {
  return <code className="font-mono text-xs break-all">{text}</code>;
}
