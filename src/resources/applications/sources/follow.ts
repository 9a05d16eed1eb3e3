// Reports to a terminal how a deployment goes: its statuses, the output of its build, and its end.
import { isStillValid } from "../../../api/auth/auth.ts";
import type { ProtocolRequest } from "../../../api/operation/protocol.ts";
import type { KindContext } from "../../kind.ts";
import { notesText } from "../deployments/log.ts";
import { isEnd } from "../deployments/schema.ts";
import { findDeployment, type DeploymentRow } from "../deployments/store.ts";
import { urlOf } from "../environments/address.ts";
import type { EnvironmentRow } from "../environments/store.ts";

/** A terminal gets reports no longer than this; a build has its own, shorter deadline. */
const FOLLOW_MS = 30 * 60_000;

/** How long the host holds a question about new output; a status is seen as soon. */
const LOG_WAIT_MS = 1_000;

/** Lines between two looks at the status. */
interface Output {
  text: string;
  next: number;
  /** Whether there is no build to read from now, or no further line of it. */
  isSilent: boolean;
}

/** The texts about a deployment, until its end. An empty text keeps the connection open. */
export async function* followDeployment(
  context: KindContext,
  asked: Pick<ProtocolRequest, "request" | "principal" | "waiters" | "closing">,
  { environment, deployment }: { environment: EnvironmentRow; deployment: DeploymentRow },
): AsyncGenerator<string> {
  const { id, commit } = deployment;
  const url = urlOf(environment, context.edge);
  yield `Deploying ${commit?.hash.slice(0, 7) ?? ""} to ${environment.name}: ${url}\n`;
  const signal = AbortSignal.any([asked.request.signal, asked.closing, AbortSignal.timeout(FOLLOW_MS)]);
  let [row, reported, after]: [DeploymentRow | undefined, string, number] = [deployment, "", 0];
  let notes = "";
  while (!signal.aborted) {
    const output = await readOutput(context, environment, id, after, signal);
    after = output.next;
    if (!(await isStillValid(context.db, asked.principal))) return yield revokedText(id);
    if (notes === "") yield (notes = notesText(row));
    yield output.text;
    // The output of a build is shown before its end.
    if (row.status !== reported) yield `${row.status}\n`;
    reported = row.status;
    if (isEnd(row.status) && output.isSilent) return yield endText(row, url);
    row = output.isSilent ? await nextStatus(context, asked, row, signal) : await read(context, asked, id);
    if (row === undefined) return yield "The environment was deleted.\n";
  }
  yield `The deployment goes on without this terminal: ${id}\n`;
}

function revokedText(id: string): string {
  return `This token is not valid any more. The deployment goes on without this terminal: ${id}\n`;
}

function endText({ status, failureReason }: DeploymentRow, url: string): string {
  if (status === "deployment.succeeded") return `Deployed: ${url}\n`;
  if (status === "cancelled") return "The deployment was cancelled.\n";
  return `The deployment has failed. ${failureReason ?? ""}`.trimEnd() + "\n";
}

function read(
  { db }: KindContext,
  { principal }: Pick<ProtocolRequest, "principal">,
  id: string,
): Promise<DeploymentRow | undefined> {
  return findDeployment(db, principal.organizationId, id);
}

/** The deployment once its status is another. It is held for a minute at most, so that the connection counts as used. */
async function nextStatus(
  context: KindContext,
  asked: Pick<ProtocolRequest, "principal" | "waiters">,
  { id, status }: DeploymentRow,
  signal: AbortSignal,
): Promise<DeploymentRow | undefined> {
  return await asked.waiters.until(
    { id, view: asked.principal.organizationId },
    () => read(context, asked, id),
    (row) => row === undefined || row.status !== status,
    signal,
  );
}

/** What a build has written since; nothing while the host has no such build. */
async function readOutput(
  { hosts }: KindContext,
  { hostId }: EnvironmentRow,
  id: string,
  after: number,
  signal: AbortSignal,
): Promise<Output> {
  const { driver } = hosts.of(hostId);
  try {
    const { lines, next, isEnd: isOver } = await driver.buildLog(id, { after, waitMs: LOG_WAIT_MS }, signal);
    return { text: lines.map(({ text }) => `  ${text}\n`).join(""), next, isSilent: isOver };
  } catch {
    // The order has not come to the host yet, or the host is away for a moment: the statuses go on.
    return { text: "", next: after, isSilent: true };
  }
}
