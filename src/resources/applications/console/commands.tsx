// The page of the commands of an environment: those that run, and the latest that ended.
import { Link } from "@tanstack/react-router";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { countText, ListCount, ListFilters, NothingFits } from "../../../console/parts/list-filters.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { Ago } from "../../../console/parts/time.tsx";
import type { CommandResource, EnvironmentResource } from "../../../sdk/index.ts";
import { useCommands } from "./command-queries.ts";
import { commandState, firstLineOf } from "./command-texts.ts";
import type { CommandsSearch } from "./commands-search.ts";
import { initiatorOf } from "./deployment-texts.ts";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { type EnvironmentIds, pathOf, useMemberNames } from "./queries.ts";
import { RunLength } from "./run-length.tsx";

type CommandsProps = Pick<PageProps<CommandsSearch>, "search" | "setSearch"> & {
  environment: EnvironmentResource;
  ids: EnvironmentIds;
};

export default function CommandsPage({ params, search, setSearch }: PageProps<CommandsSearch>) {
  return (
    <EnvironmentFrame params={params}>
      {({ environment, ids }) => <Commands {...{ environment, ids, search, setSearch }} />}
    </EnvironmentFrame>
  );
}

function Commands({ environment, ids, search, setSearch }: CommandsProps) {
  const canWrite = useCan("applications:write") && environment.attributes.status !== "deleting";
  const isDeployed = environment.relationships.currentDeployment.data !== null;
  const { data, error, refetch } = useCommands(ids);
  return (
    <Section
      title="Commands"
      note="A command runs once in the release that serves, with its files and variables and in a sandbox of its own, for an hour at most."
      actions={
        canWrite &&
        isDeployed && (
          <ButtonLink to={`${pathOf(ids)}/commands/new`} look="primary">
            Run a command
          </ButtonLink>
        )
      }
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && (
        <p className="m-0 text-soft">
          {isDeployed ? "No command was run here yet." : "A command can run after the first deployment."}
        </p>
      )}
      {data && data.length > 0 && <List commands={data} {...{ ids, search, setSearch }} />}
    </Section>
  );
}

function List(props: Omit<CommandsProps, "environment"> & { commands: readonly CommandResource[] }) {
  const { commands, ids, search, setSearch } = props;
  const members = useMemberNames();
  const shown = commands.filter((command) => fits(command, search));
  return (
    <>
      <ListFilters
        label="Search commands"
        {...{ search, setSearch }}
        filters={[{ name: "status", values: commands.map(commandState), chosen: search.status }]}
      />
      <ListCount text={countText(shown.length, commands.length)} />
      {shown.length === 0 && <NothingFits />}
      <ol aria-label="Commands" className="m-0 list-none border-t border-line p-0">
        {shown.map((command) => (
          <li key={command.id} className="border-b border-line">
            <CommandLine
              to={`${pathOf(ids)}/commands/${command.id}`}
              command={command}
              by={initiatorOf(command, members)}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

function fits(command: CommandResource, { q, status }: CommandsSearch): boolean {
  const text = q?.toLowerCase();
  return (
    (text === undefined || command.attributes.command.toLowerCase().includes(text)) &&
    (status === undefined || commandState(command) === status)
  );
}

function CommandLine(props: { to: string; command: CommandResource; by: string | undefined }) {
  const { to, command, by = "a token" } = props;
  const { created_at: at, exit_code: code } = command.attributes;
  return (
    <Link
      to={to}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-1 py-1.5 text-ink no-underline hover:bg-hover sm:grid-cols-[7rem_minmax(0,1fr)_4.5rem_8rem]"
    >
      <Status status={commandState(command)} />
      <span className="order-first col-span-2 min-w-0 sm:order-none sm:col-span-1">
        <code className="block truncate font-mono text-sm">{firstLineOf(command)}</code>
        <span className="block truncate text-xs text-soft">
          {by}
          {code !== null && code !== 0 && ` · exit code ${code}`}
        </span>
      </span>
      <span className="hidden text-right text-sm text-soft sm:block">
        <RunLength run={command} />
      </span>
      <span className="text-right text-sm text-soft">{at && <Ago at={at} />}</span>
    </Link>
  );
}
