// The dependencies that all instances of a host share.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Log } from "../../lib/log.ts";
import type { InstanceAddresses } from "../os/addresses.ts";
import type { InstanceEdge } from "../edge/edge.ts";
import type { HostBackups } from "../backups/host-backups.ts";
import type { HostSettings } from "../engine/context.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { Transition } from "../lifecycle/machine.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { RunnerParts } from "../engine/runner-parts.ts";
import type { WarmPool } from "../provisioning/warm-pool.ts";
import type { StartLimiter } from "../engine/start-limiter.ts";

export interface InstanceDependencies {
  settings: HostSettings;
  slots: WarmPool;
  starts: StartLimiter;
  gateway: InstanceGateway;
  edge: InstanceEdge;
  addresses: InstanceAddresses;
  backups: Pick<HostBackups, "copies" | "restore" | "shipLastLog">;
  /**
   * Chooses a uid for a new instance that no other instance has; null where instances cannot have uids of their own.
   */
  allotUid(spec: InstanceSpec): number | null;
  /** Stops another instance until the host starts anew; it may be absent. */
  stop(id: string): Promise<void>;
  log: Log;
  /** Makes the runner of an instance's engine. */
  runner(parts: RunnerParts): EngineRunner;
  onChange(observation: Observation): void;
  /** Gets every transition of an instance's lifecycle, in order. */
  onTransition?(id: string, transition: Transition): void;
}
