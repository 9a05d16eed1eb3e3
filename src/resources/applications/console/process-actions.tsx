// What can be done with a line of what runs in an environment: an instance gets processes, and what was added goes.
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../../console/parts/button.tsx";
import { RemoveButton } from "../../../console/parts/remove-button.tsx";
import { nameOf, type ProcessLine, processesKey } from "./process-line.ts";
import { type EnvironmentIds, environmentsOf, pathOf } from "./queries.ts";

export function LineActions({ ids, line }: { ids: EnvironmentIds; line: ProcessLine }) {
  const { instance, process } = line;
  const instances = environmentsOf(ids.applicationId).instances(ids.environmentId);
  if (process !== null) {
    // A line of the Procfile goes with its line.
    if (process.meta.procfile_name !== null) return null;
    return (
      <RemoveButton
        label={nameOf(line)}
        verb="Delete"
        question={`Its processes end: ${process.attributes.command}`}
        queryKey={processesKey(ids)}
        remove={() => instances.backgroundProcesses(instance.id).delete(process.id)}
      />
    );
  }
  return (
    <>
      <Link
        to={`${pathOf(ids)}/processes/new`}
        search={{ instance: instance.id } as never}
        aria-label={`Add a process to ${nameOf(line)}`}
        className={buttonClass("ghost")}
      >
        Add a process
      </Link>
      {instance.attributes.type === "service" && (
        <RemoveButton
          label={nameOf(line)}
          verb="Delete"
          question="The instance goes with all its background processes."
          queryKey={processesKey(ids)}
          remove={() => instances.delete(instance.id)}
        />
      )}
    </>
  );
}
