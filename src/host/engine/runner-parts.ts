// What the runner of an instance's engine works with.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";
import type { Log } from "../../lib/log.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { InstanceFolder } from "../os/layout.ts";
import type { OriginSource } from "../provisioning/origin.ts";
import type { WarmPool } from "../provisioning/warm-pool.ts";
import type { HostSettings } from "./context.ts";
import type { EngineProcess } from "./engine-process.ts";

/** An engine with all that it runs with. */
export interface Runnable {
  engine: Engine;
  context: EngineContext<InstanceSpec>;
}

/** How a runner stops an engine, where that differs from the engine's own way. */
export interface StopOptions {
  /** In place of the engine's own. */
  signal?: NodeJS.Signals;
  /** The longest time that the engine may take. */
  withinMs?: number;
  /** Whether later hosts do not start the instance again until it is ordered to run. */
  isFinal?: boolean;
}

/** The parts that a runner works with. */
export interface RunnerParts {
  id: string;
  settings: HostSettings;
  slots: WarmPool;
  origin: OriginSource;
  folder: InstanceFolder;
  file: Pick<ManifestFile, "manifest">;
  log: Log;
  /** Aborted when the engine is to be stopped or let go, so that no wait for a start may go on. */
  leaving: AbortSignal;
  /** Called when an engine has ended although the host did not stop it. */
  onEnded(ended: EngineProcess): void;
  /** Prepares what an engine begins with beside its own files; left out where nothing does. */
  beforeStart?(context: EngineContext<InstanceSpec>): Promise<void>;
}
