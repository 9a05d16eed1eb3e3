// What the sleep cycle of an instance is made of.
import type { Log } from "../../lib/log.ts";
import type { InstanceEdge } from "../edge/edge.ts";
import type { HostSettings } from "../engine/context.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { InstanceFolder } from "../os/layout.ts";
import type { Sleeper } from "./suspension.ts";

/** The parts that a sleep cycle works with. */
export interface SleepCycleParts extends Pick<Sleeper, "copies"> {
  id: string;
  settings: HostSettings;
  gateway: InstanceGateway;
  edge: InstanceEdge;
  address: InstanceAddress;
  log: Log;
  lifecycle: InstanceLifecycle;
  /** Aborted when no new step may begin. */
  leaving: AbortSignal;
  folder: InstanceFolder;
  file: ManifestFile;
  condition: Condition;
  runner: EngineRunner;
  /** Called when the engine has been idle for as long as the spec says. */
  onIdle(): void;
  /** Called when an engine has ended for a suspension that failed, so that it must start again. */
  onFailed(error: unknown): void;
}
