// The steps that all commands that change a cluster or an application have in common.
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import type { CommandError } from "../failure.ts";
import type { WaitOptions } from "../options.ts";
import { jsonText, type Session } from "../session.ts";
import { find } from "../shared/find.ts";
import type { Kind, Named } from "../shared/kind.ts";
import { waitUntil } from "../shared/wait.ts";
import { clusterKind } from "./kind.ts";

/** The data that is needed after a change. */
interface Change<Document extends SingleDocument<Named>> {
  client: PilviClient;
  clusterId: string;
  options: WaitOptions & { json?: true };
  /** The id of the changed resource, its kind and its text. */
  id: string;
  kind: Kind<Document>;
  details(document: Document): string;
}

/** Prints a changed resource, at once or when the change is in force. @throws CommandError when that takes too long. */
export async function finishChange<Document extends SingleDocument<Named>>(
  session: Session,
  { client, clusterId, options, id, kind, details }: Change<Document>,
): Promise<void> {
  const failure =
    options.wait === true ? await waitUntilInForce(session, client, clusterId, options) : undefined;
  // Printed also after a failure, since the change has been taken.
  const document = await find(kind, client, id).catch((error: unknown) => {
    throw failure ?? error;
  });
  session.io.out(options.json === true ? jsonText(document) : details(document));
  if (failure !== undefined) throw failure;
  if (options.wait === true) return;
  session.io.err(
    `In force when the cluster is available. Wait for it with: pilvi websockets show ${clusterId} --wait\n`,
  );
}

/** Waits until the cluster is `available` again. @returns the failure when that takes too long. */
export async function waitUntilInForce(
  session: Session,
  client: PilviClient,
  clusterId: string,
  { timeout }: WaitOptions,
): Promise<CommandError | undefined> {
  const cluster = await find(clusterKind, client, clusterId);
  return (await waitUntil(session, clusterKind, client, cluster, "available", timeout)).failure;
}
