// What runs in an environment: the replicas that serve, and the background processes, with how many of each.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Minus, Plus } from "lucide-react";
import { ButtonLink, IconButton } from "../../../console/parts/button.tsx";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { useAbilities } from "../../../console/parts/session.ts";
import { CheckField } from "../../../console/parts/field.tsx";
import { type EnvironmentResource, PilviError } from "../../../sdk/index.ts";
import { nameOf, type ProcessLine as Line, processesKey } from "./process-line.ts";
import { LineActions } from "./process-actions.tsx";
import { type EnvironmentIds, environmentsOf, pathOf } from "./queries.ts";

/** Processes end and are started again without an event. */
const WATCHED_MS = 5_000;

const MOST = 10;

async function readLines({ applicationId, environmentId }: EnvironmentIds): Promise<Line[]> {
  const instances = environmentsOf(applicationId).instances(environmentId);
  const lines: Line[] = [];
  for (const instance of (await instances.list()).data) {
    lines.push({ instance, process: null });
    const { data } = await instances.backgroundProcesses(instance.id).list();
    lines.push(...data.map((process) => ({ instance, process })));
  }
  return lines;
}

export function ProcessesSection(props: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const { environment, ids } = props;
  const can = useAbilities();
  const { data, error, refetch } = useQuery({
    queryKey: processesKey(ids),
    queryFn: async () => await readLines(ids),
    refetchInterval: WATCHED_MS,
  });
  const canWrite = can("applications:write") && environment.attributes.status !== "deleting";
  return (
    <Section
      title="Processes"
      actions={canWrite && <ButtonLink to={`${pathOf(ids)}/instances/new`}>Create instance</ButtonLink>}
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      <ul aria-label="Processes" className="m-0 list-none p-0">
        {(data ?? []).map((line) => (
          <li
            key={(line.process ?? line.instance).id}
            className="flex flex-wrap items-center gap-x-4 border-b border-line px-1 py-1.5"
          >
            <Description line={line} />
            {line.process?.attributes.type !== "scheduler" && (
              <span className="ml-auto flex items-center gap-2 sm:gap-4">
                {canWrite && <LineActions ids={ids} line={line} />}
                <Count ids={ids} line={line} canWrite={canWrite} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {data && canWrite && <Scheduler ids={ids} lines={data} />}
    </Section>
  );
}

function Description({ line }: { line: Line }) {
  const { instance, process } = line;
  const { size, type, min_replicas: replicas } = instance.attributes;
  const isScheduler = process?.attributes.type === "scheduler";
  return (
    <span className="min-w-0 grow basis-full sm:basis-0">
      <span className="block truncate font-medium">{nameOf(line)}</span>
      <span className="block truncate text-xs text-soft">
        {process === null ? (
          `${type === "app" ? "serves requests" : "background processes alone"} · ${size}`
        ) : (
          <>
            {`${process.meta.running} of ${isScheduler ? 1 : process.attributes.processes * replicas} run · `}
            <code className="font-mono">{process.attributes.command}</code>
          </>
        )}
      </span>
      {process?.meta.last_error && (
        <span className="block text-xs break-words whitespace-pre-wrap text-bad">
          {process.meta.last_error}
        </span>
      )}
    </span>
  );
}

/** Turns the scheduler on beside what serves requests, and off wherever it is. */
function Scheduler({ ids, lines }: { ids: EnvironmentIds; lines: readonly Line[] }) {
  const instances = lines.filter(({ process }) => process === null).map(({ instance }) => instance);
  const present = instances.find(({ attributes }) => attributes.uses_scheduler);
  const changed = present ?? instances.find(({ attributes }) => attributes.type === "app");
  const cache = useQueryClient();
  const turning = useMutation({
    mutationFn: async (isOn: boolean) => {
      if (changed === undefined) return;
      const of = environmentsOf(ids.applicationId).instances(ids.environmentId);
      await of.update(changed.id, { uses_scheduler: isOn });
    },
    onSuccess: async () => await cache.invalidateQueries({ queryKey: processesKey(ids) }),
  });
  const { error } = turning;
  const faults = error instanceof PilviError ? (error.errors?.["uses_scheduler"] ?? [error.message]) : [];
  return (
    <div className="mt-3">
      <CheckField
        label="Scheduler"
        note="Runs the scheduled work of Laravel each minute, while the environment is awake."
        faults={faults}
        isChecked={turning.isPending ? turning.variables : present !== undefined}
        isDisabled={turning.isPending}
        onChange={(isOn) => turning.mutate(isOn)}
      />
    </div>
  );
}

function Count({ ids, line, canWrite }: { ids: EnvironmentIds; line: Line; canWrite: boolean }) {
  const { instance, process } = line;
  const count = process?.attributes.processes ?? instance.attributes.min_replicas;
  const cache = useQueryClient();
  const scaling = useMutation({
    mutationFn: async (next: number) => {
      const instances = environmentsOf(ids.applicationId).instances(ids.environmentId);
      if (process !== null)
        await instances.backgroundProcesses(instance.id).update(process.id, { processes: next });
      else
        await instances.update(instance.id, {
          scaling_type: "custom",
          min_replicas: next,
          max_replicas: next,
        });
    },
    onSuccess: async () => await cache.invalidateQueries({ queryKey: processesKey(ids) }),
  });
  const name = nameOf(line);
  return (
    <span className="flex items-center gap-1">
      {canWrite && (
        <IconButton
          label={`Fewer of ${name}`}
          disabled={count <= 1 || scaling.isPending}
          onClick={() => scaling.mutate(count - 1)}
        >
          <Minus size={14} aria-hidden />
        </IconButton>
      )}
      <span className="min-w-6 text-center tabular-nums">{count}</span>
      {canWrite && (
        <IconButton
          label={`More of ${name}`}
          disabled={count >= MOST || scaling.isPending}
          onClick={() => scaling.mutate(count + 1)}
        >
          <Plus size={14} aria-hidden />
        </IconButton>
      )}
    </span>
  );
}
