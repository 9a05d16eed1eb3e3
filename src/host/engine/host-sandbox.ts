// The sandbox of this host: tried at the start, and again after an attempt to install what it needs.
import { ensureSandbox, findSandbox } from "../../engines/sandbox/probe.ts";
import type { Sandbox } from "../../engines/sandbox/sandbox.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";

export class HostSandbox {
  readonly #enginesDir: string;
  #now: Sandbox;
  #ensured: Promise<Sandbox> | undefined;

  constructor(enginesDir: string) {
    this.#enginesDir = enginesDir;
    this.#now = findSandbox(enginesDir, trial());
  }

  /** What works with the programs that are there. */
  get now(): Sandbox {
    return this.#now;
  }

  /** What works after one attempt to install what is missing. */
  ensured(): Promise<Sandbox> {
    if (this.#now.level === "bubblewrap") return Promise.resolve(this.#now);
    return (this.#ensured ??= ensureSandbox(this.#enginesDir, trial()).then((found) => (this.#now = found)));
  }
}

/** The user that builds first data has no processes that a trial could disturb. */
function trial() {
  return { account: canSwitchUsers() ? BUILD_ACCOUNT : null };
}
