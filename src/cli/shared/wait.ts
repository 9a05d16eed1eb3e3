// Waits for resources of any kind.
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import type { Session } from "../session.ts";
import { waitFor, type WaitResult } from "../wait.ts";
import { nameOf, type Kind, type Resource } from "./kind.ts";

/**
 * Waits until a resource can be used, or until a resource that is being deleted is gone. An early end, also by Ctrl-C, is
 * a failure in the result.
 */
export async function waitUntil<Document extends SingleDocument<Resource>>(
  { io }: Session,
  kind: Kind<Document>,
  client: PilviClient,
  document: Document,
  until: "available" | "deleted",
  timeoutSeconds: number,
): Promise<WaitResult<Document>> {
  const { id } = document.data;
  const { include = [] } = kind;
  return await waitFor(io, {
    name: nameOf(kind, document.data),
    until,
    timeoutSeconds,
    document,
    afterwards:
      until === "available"
        ? `Pilvi goes on with it. Look at it with: ${kind.showCommand(id)}`
        : `Pilvi goes on deleting ${id}.`,
    get: (options) => kind.requests(client).get(id, { ...options, include }),
  });
}
