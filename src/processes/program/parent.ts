// The messages between `pilvi up` and a process that it started. A process that was started otherwise writes to stderr.
import { messageOf, Refusal } from "../../lib/errors.ts";

/** From a child to `pilvi up`; `kept` says that sockets wait for the keeper of addresses. */
export type ChildMessage = { type: "ready" } | { type: "refused"; message: string } | { type: "kept" };

/** The number of the descriptor over which the host and the keeper of addresses are connected. */
export const KEEPER_VARIABLE = "PILVI_KEEPER_DESCRIPTOR";

/** From `pilvi up` to a child: end, with everything that the child has started. */
export type ParentMessage = { type: "stop" };

/** Reports to `pilvi up` that this process serves now. */
export function reportReady(): void {
  process.send?.({ type: "ready" } satisfies ChildMessage);
}

/** Reports why this process cannot start; the process should then end with code 1. */
export function reportRefusal(error: unknown): void {
  const message = error instanceof Refusal ? error.message : `Pilvi could not start: ${messageOf(error)}`;
  if (process.send === undefined) process.stderr.write(`${message}\n`);
  else process.send({ type: "refused", message } satisfies ChildMessage);
}

/** Reports to `pilvi up` that sockets wait for the keeper of addresses. */
export function reportKept(): void {
  process.send?.({ type: "kept" } satisfies ChildMessage);
}

/** Why this process has to end: a signal, a message of `pilvi up`, or the end of `pilvi up` itself. */
type StopReason = "signal" | "stop" | "parent-gone";

/** Resolves with the first reason to end. */
export function stopRequested(): Promise<StopReason> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve("signal"));
    process.on("message", (message: ParentMessage) => {
      if (message.type === "stop") resolve("stop");
    });
    process.on("disconnect", () => resolve("parent-gone"));
  });
}
