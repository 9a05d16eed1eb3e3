// The public key to add at the host of an application's repository, and the button that replaces it.
import { client } from "../../../console/parts/client.ts";
import { CopyButton } from "../../../console/parts/copy.tsx";
import { ResourceAction } from "../../../console/parts/resource-detail.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { applicationKind, type ConsoleApplication } from "./kind.ts";

/** For applications that have such a key: those with a repository behind SSH. */
export function DeployKey({ application: { id, meta } }: { application: ConsoleApplication }) {
  const canWrite = useCan("applications:write");
  const key = meta.deploy_key ?? "";
  return (
    <span className="flex min-w-0 flex-col items-start gap-2">
      <span className="flex min-w-0 items-start gap-1">
        <code className="min-w-0 font-mono text-xs break-all">{key}</code>
        <CopyButton text={key} label="deploy key" />
      </span>
      {canWrite && meta.status !== "deleting" && (
        <ResourceAction
          kind={applicationKind}
          label="New deploy key"
          act={async () => {
            await client.applications.rotateDeployKey(id);
            return await applicationKind.collection.get(id);
          }}
          done="The deploy key is new. Add it to the repository."
          question={{
            title: "Make a new deploy key?",
            text: "The present key is gone at once. Deployments of the repository fail until the new key is added there.",
          }}
        />
      )}
    </span>
  );
}
