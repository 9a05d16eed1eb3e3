// The page that creates an application in a WebSocket cluster.
import { useState } from "react";
import { client } from "../../../console/parts/client.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { PartCreatePage } from "../../../console/parts/part-create.tsx";
import { applicationsKey } from "./application.tsx";
import { applicationCommand, type NewApplication } from "./application-command.ts";
import { websocketKind } from "./kind.ts";
import { OriginsField, originsIn } from "./origins-field.tsx";
import { type Webhook, WebhooksField } from "./webhooks-field.tsx";

export default function ApplicationCreatePage({ params: { id = "" } }: PageProps) {
  const [origins, setOrigins] = useState("");
  const [webhooks, setWebhooks] = useState<Webhook[]>([]);
  const allowed = originsIn(origins);
  return (
    <PartCreatePage
      kind={websocketKind}
      id={id}
      noun="application"
      path="/websocket-servers/{id}/applications"
      queryKey={applicationsKey(id)}
      // The API checks the body; the form is made from its schema.
      create={(body) => client.websockets.applications(id).create(body as NewApplication)}
      commandOf={(body) => applicationCommand(id, body)}
      more={{
        members: {
          allowed_origins: allowed.length === 0 ? undefined : allowed,
          webhooks: webhooks.length === 0 ? undefined : webhooks,
        },
        fields: ({ document, error }) => (
          <>
            <OriginsField text={origins} onChange={setOrigins} error={error} />
            <WebhooksField {...{ document, webhooks, error }} onChange={setWebhooks} />
          </>
        ),
      }}
    />
  );
}
