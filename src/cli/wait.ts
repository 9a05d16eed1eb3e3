// Waits until a resource has a status or is gone, with repeated requests whose answers Pilvi holds.
import { isAbsence, PilviError } from "../sdk/index.ts";
import { givenUp, readPatiently } from "./absence.ts";
import { CommandError } from "./failure.ts";
import type { Io } from "./io.ts";
import { Progress, type ProgressState } from "./progress.ts";

/** The parts of a document that waiting looks at. */
interface StatusDocument {
  data: { attributes: { status: string }; meta?: { last_error: string | null } };
}

/** A wait and the data that it begins with. */
export interface Wait<Document extends StatusDocument> {
  /** The name of the resource for people, such as `the cache sessions`. */
  name: string;
  /** `deleted` is reached when the resource does not exist. */
  until: "available" | "deleted";
  timeoutSeconds: number;
  document: Document;
  /** The work that goes on by itself when the wait ends early, as a sentence. */
  afterwards: string;
  /** Reads the resource; the answer is held for `wait`. */
  get(options: { wait?: "available" | "deleted"; signal: AbortSignal }): Promise<Document>;
}

/** The end of a wait; the document is the last version that was read. */
export interface WaitResult<Document> {
  document: Document;
  /** Why the status was not reached; undefined when it was reached. */
  failure: CommandError | undefined;
}

/** Pilvi would hold an answer for longer, but the last error would stay hidden for as long. */
const HOLD_MS = 5000;

/** Protects a server that does not hold answers from a flood of requests. */
const PAUSE_MS = 250;

/**
 * Waits with a line of progress, also over an absence of Pilvi. An early end is a failure in the result, with the exit
 * code 130 on Ctrl-C, so that callers print the document, which has the id, in any case.
 */
export async function waitFor<Document extends StatusDocument>(
  io: Io,
  wait: Wait<Document>,
): Promise<WaitResult<Document>> {
  const interrupt = new AbortController();
  const forget = io.onInterrupt(() => interrupt.abort());
  const progress = new Progress(io, `${wait.name} to be ${wait.until}`, stateOf(wait.document));
  const endMs = io.nowMs() + wait.timeoutSeconds * 1000;
  let last = wait.document;
  const seen = (document: Document) => {
    last = document;
    progress.update(stateOf(document));
  };
  const get = async () => {
    const holdMs = Math.max(1, Math.min(HOLD_MS, endMs - io.nowMs()));
    return await getHeld(wait, holdMs, interrupt.signal);
  };
  const patience = { signal: interrupt.signal, endMs, onAbsence: (error: Error) => progress.away(error) };
  try {
    return await look(io, wait, patience, { get: () => readPatiently(io, get, patience), seen });
  } catch (error) {
    return { document: last, failure: earlyEnd(wait, last, error, interrupt.signal.aborted) };
  } finally {
    progress.end();
    // A second Ctrl-C, or the same signal passed on by a parent, must not cut off the message about the first.
    if (!interrupt.signal.aborted) forget();
  }
}

async function look<Document extends StatusDocument>(
  io: Io,
  wait: Wait<Document>,
  { signal, endMs }: { signal: AbortSignal; endMs: number },
  { get, seen }: { get(): Promise<Document | undefined>; seen(document: Document): void },
): Promise<WaitResult<Document>> {
  let { document } = wait;
  for (;;) {
    if (document.data.attributes.status === wait.until) return { document, failure: undefined };
    if (isFinal(document, wait)) return { document, failure: finality(wait, document) };
    if (io.nowMs() >= endMs) return { document, failure: lateness(wait, document) };
    const next = await get();
    if (next === undefined) return { document, failure: disappearance(wait) };
    document = next;
    seen(document);
    if (document.data.attributes.status !== wait.until) await io.pause(PAUSE_MS, signal);
  }
}

/** Reads the resource when it has the status, or as it is after the given time; undefined when it is gone. */
async function getHeld<Document extends StatusDocument>(
  wait: Wait<Document>,
  holdMs: number,
  interrupt: AbortSignal,
): Promise<Document | undefined> {
  const hold = AbortSignal.timeout(Math.ceil(holdMs));
  try {
    return await wait.get({ wait: wait.until, signal: AbortSignal.any([interrupt, hold]) });
  } catch (error) {
    if (isGone(error)) return undefined;
    if (interrupt.aborted || !hold.aborted) throw error;
  }
  try {
    return await wait.get({ signal: interrupt });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Whether the resource will never have the status. */
function isFinal({ data: { attributes } }: StatusDocument, { until }: Wait<StatusDocument>): boolean {
  return until === "available" && (attributes.status === "failed" || attributes.status === "restore_failed");
}

function finality(wait: Wait<StatusDocument>, document: StatusDocument): CommandError {
  const { status, lastError } = stateOf(document);
  const reason = lastError === null ? "" : `\nThe reason is: ${lastError}`;
  return new CommandError(
    `${capitalized(wait.name)} will not be available: its status is ${status}.${reason}`,
  );
}

function isGone(error: unknown): boolean {
  return error instanceof PilviError && error.status === 404;
}

function disappearance(wait: Wait<StatusDocument>): CommandError | undefined {
  if (wait.until === "deleted") return undefined;
  return new CommandError(`${capitalized(wait.name)} was deleted meanwhile.`);
}

function lateness(wait: Wait<StatusDocument>, document: StatusDocument): CommandError {
  const { status, lastError } = stateOf(document);
  const sentences = [
    `${capitalized(wait.name)} is not ${wait.until} after ${wait.timeoutSeconds} s; its status is ${status}.`,
    ...(lastError === null ? [] : [`The last error was: ${lastError}`]),
    wait.afterwards,
  ];
  return new CommandError(sentences.join("\n"));
}

/** @throws the error when commands do not foresee it. */
function earlyEnd(
  wait: Wait<StatusDocument>,
  document: StatusDocument,
  error: unknown,
  isInterrupted: boolean,
): CommandError {
  if (isInterrupted) return new CommandError(`Interrupted. ${wait.afterwards}`, 130);
  if (!isAbsence(error)) return givenUp(error, wait.afterwards);
  const { status } = stateOf(document);
  const seen = `After ${wait.timeoutSeconds} s, Pilvi is away; the last known status of ${wait.name} is ${status}.`;
  return new CommandError([seen, error.message, wait.afterwards].join("\n"));
}

function stateOf({ data }: StatusDocument): ProgressState {
  return { status: data.attributes.status, lastError: data.meta?.last_error ?? null };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
