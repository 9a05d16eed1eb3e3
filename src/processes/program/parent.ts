// What a process that `pilvi up` started says to it, and hears from it. Started by anyone else, it says it on stderr.
import { messageOf, Refusal } from "../../lib/errors.ts";

/** From a child to `pilvi up`; `kept` is that the keeper of addresses has something to take. */
export type ChildMessage = { type: "ready" } | { type: "refused"; message: string } | { type: "kept" };

/** The number of the descriptor over which the host and the keeper of addresses are connected. */
export const KEEPER_VARIABLE = "PILVI_KEEPER_DESCRIPTOR";

/** From `pilvi up` to a child: end, and all that you started with you. */
export type ParentMessage = { type: "stop" };

/** Tells `pilvi up` that this process does its work now. */
export function reportReady(): void {
  process.send?.({ type: "ready" } satisfies ChildMessage);
}

/** Tells why this process cannot start; it should end with code 1 after. */
export function reportRefusal(error: unknown): void {
  const message = error instanceof Refusal ? error.message : `Pilvi could not start: ${messageOf(error)}`;
  if (process.send === undefined) process.stderr.write(`${message}\n`);
  else process.send({ type: "refused", message } satisfies ChildMessage);
}

/** Tells `pilvi up` that it has addresses to take. */
export function reportKept(): void {
  process.send?.({ type: "kept" } satisfies ChildMessage);
}

/** Why this process is to end: a signal, a word from `pilvi up`, or the end of `pilvi up` itself. */
export type StopReason = "signal" | "stop" | "parent-gone";

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
