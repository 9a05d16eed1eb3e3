// The address of one instance: had for its life, by the host itself, whichever side its clients come to.
import type { Account } from "../../engines/engine.ts";
import type { InstanceAddresses, Side } from "../os/addresses.ts";
import { addressOf, type HostSettings } from "./context.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { EngineRunner } from "./runner.ts";

/** What the address of an instance is made of. */
export interface InstanceAddressParts {
  id: string;
  settings: HostSettings;
  addresses: InstanceAddresses;
  file: ManifestFile;
  runner: EngineRunner;
}

function ownAccount(): Account {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

export class InstanceAddress {
  readonly #parts: InstanceAddressParts;
  #isMissing = false;

  constructor(parts: InstanceAddressParts) {
    this.#parts = parts;
  }

  /** Whether another program had it when it was asked for last. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** Has the address, for the side that the manifest tells of. @throws PublicError when another program has it. */
  async hold(): Promise<void> {
    const { file, runner } = this.#parts;
    const side = file.manifest?.servedThrough ?? "engine";
    try {
      await this.#holdFor(side);
      this.#isMissing = false;
    } catch (error) {
      // An engine that an earlier host started has it itself, and ends when it is to have another.
      if (side === "engine" && runner.process !== null) return;
      this.#isMissing = true;
      throw error;
    }
  }

  /** Has the engine that is about to be started listen there, until `settle`. @throws PublicError when another program has it. */
  async admitEngine(): Promise<void> {
    await this.hold();
    this.admit();
  }

  /** Lets an engine that runs listen there, until `settle`: a WebSocket server does so only when it is told of its applications. */
  admit(): void {
    const { id, addresses, runner } = this.#parts;
    const { engine, context } = runner.runnable ?? {};
    addresses.admit(id, engine?.sharesPort === true ? (context?.account ?? ownAccount()) : null);
  }

  /** Nobody may begin to listen there any more. */
  settle(): void {
    this.#parts.addresses.settle(this.#parts.id);
  }

  /** The instance is gone. */
  drop(): void {
    this.#parts.addresses.drop(this.#parts.id);
  }

  async #holdFor(side: Side): Promise<void> {
    const { id, settings, addresses, file, runner } = this.#parts;
    const spec = file.manifest?.spec;
    if (spec === undefined || spec.exposure.port === null) return;
    const place = { address: addressOf(settings, spec), port: spec.exposure.port };
    await addresses.hold(id, place, side, runner.process !== null);
  }
}
