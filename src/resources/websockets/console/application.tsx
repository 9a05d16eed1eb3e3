// An application in a WebSocket cluster: how clients and servers connect to it, its settings, its secret, and its deletion.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { Connect } from "../../../console/parts/connect.tsx";
import { RemoveButton } from "../../../console/parts/remove-button.tsx";
import { RotateButton } from "../../../console/parts/rotate-button.tsx";
import { useCan } from "../../../console/parts/session.ts";
import type { WebsocketApplicationResource, WebsocketServerResource } from "../../../sdk/index.ts";
import { ApplicationSettings } from "./application-settings.tsx";
import { snippetsOf } from "./snippets.ts";

/** The type of its events keeps the applications up to date. */
export function applicationsKey(id: string): string[] {
  return ["websockets", "websocketApplications", id];
}

/** Reads the applications in a cluster. */
export function useApplications(id: string) {
  return useQuery({
    queryKey: applicationsKey(id),
    queryFn: () => Array.fromAsync(client.websockets.applications(id).all()),
  });
}

interface ApplicationProps {
  cluster: WebsocketServerResource;
  application: WebsocketApplicationResource;
  isOnly: boolean;
}

export function Application({ cluster, application, isOnly }: ApplicationProps) {
  const canWrite = useCan("websockets:write");
  const canWatch = useCan("websockets:credentials");
  const { name, app_id: appId, key, secret } = application.attributes;
  const rows = [
    { label: "App id", value: appId },
    ...(key === undefined ? [] : [{ label: "Key", value: key }]),
    ...(secret === undefined ? [] : [{ label: "Secret", value: secret }]),
  ];
  return (
    <Connect
      title={`Application ${name}`}
      rows={rows}
      snippets={snippetsOf(cluster, application)}
      secret={secret}
      actions={
        <>
          {canWatch && (
            <ButtonLink to={`/websockets/${cluster.id}/applications/${application.id}/debug`}>
              Debug
            </ButtonLink>
          )}
          {canWrite && <ApplicationChanges {...{ cluster, application, isOnly }} />}
        </>
      }
    />
  );
}

/** The buttons that change the application. */
function ApplicationChanges({ cluster, application: { id, attributes }, isOnly }: ApplicationProps) {
  const cache = useQueryClient();
  const applications = client.websockets.applications(cluster.id);
  const queryKey = applicationsKey(cluster.id);
  return (
    <>
      <ApplicationSettings
        attributes={attributes}
        save={async (change) => {
          await applications.update(id, change);
          await cache.invalidateQueries({ queryKey });
        }}
      />
      <RotateButton
        noun="secret"
        atOnce="Servers that still have it can no longer publish or let clients into private channels."
        rotate={async (graceSeconds) => {
          await applications.rotateSecret(id, { grace_seconds: graceSeconds });
          await cache.invalidateQueries({ queryKey });
        }}
      />
      {!isOnly && (
        <RemoveButton
          label={attributes.name}
          verb="Delete"
          question="Its clients are disconnected, and its key is refused from then on."
          name={attributes.name}
          queryKey={queryKey}
          remove={() => applications.delete(id)}
        />
      )}
    </>
  );
}
