// Prints the steps of a deployment as they go on: each with its output, and the time that it took.
import type { DeploymentLog } from "../../sdk/index.ts";
import { withoutSequences } from "../shared/terminal-sequences.ts";

type Step = DeploymentLog["data"]["build"]["steps"][number];

const ENDED: ReadonlySet<Step["status"]> = new Set(["finished", "failed", "skipped", "cancelled"]);

/** What was printed of a step. */
interface Printed {
  output: string;
  hasEnded: boolean;
}

/** Prints what is new in each reading of a deployment's log. */
export class StepPrinter {
  readonly #print: (text: string) => void;
  readonly #printed = new Map<string, Printed>();

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** Prints what came since the last reading. */
  show({ data }: DeploymentLog): void {
    for (const [phase, { steps }] of Object.entries(data))
      for (const step of steps) this.#showStep(`${phase} ${step.step}`, step);
  }

  #showStep(key: string, step: Step): void {
    if (step.status === "pending") return;
    const hasEnded = ENDED.has(step.status);
    const former = this.#printed.get(key);
    if (former?.hasEnded === true && hasEnded) return;
    const whole = wholeLines(step.output ?? "", hasEnded);
    const isGoingOn = former?.hasEnded === false && whole.startsWith(former.output);
    // A build whose host was killed begins anew, with a log of its own.
    if (!isGoingOn) this.#print(`${headOf(step)}\n`);
    const added = isGoingOn ? whole.slice(former.output.length) : whole;
    if (added !== "") this.#print(indented(added));
    if (hasEnded) this.#print(`  ${endOf(step)}\n`);
    this.#printed.set(key, { output: whole, hasEnded });
  }
}

/** The part of an output that is printed: a line once it is whole. */
function wholeLines(output: string, hasEnded: boolean): string {
  return hasEnded ? output : output.slice(0, output.lastIndexOf("\n") + 1);
}

function headOf({ step, description }: Step): string {
  const [first = "", ...rest] = description.split("\n");
  return `${step}: ${first}${rest.length === 0 ? "" : ` (and ${rest.length} more)`}`;
}

function endOf({ status, duration_ms: ms }: Step): string {
  const time = ms === undefined ? "" : durationText(ms);
  if (status === "finished") return time === "" ? "done" : `done in ${time}`;
  return time === "" ? status : `${status} after ${time}`;
}

/** Lines as a terminal would show them in the end: a program that redraws a line leaves its last state. */
function indented(output: string): string {
  const lines = withoutSequences(output).replace(/\n$/, "").split("\n");
  return lines.map((line) => `  ${line.replace(/\r+$/, "").split("\r").at(-1) ?? ""}\n`).join("");
}

/** A length of time in a few characters. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
