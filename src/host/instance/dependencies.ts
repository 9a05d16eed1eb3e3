// What all instances of a host share.
import type { InstanceSpec, Observation } from "../../drivers/driver.ts";
import type { Log } from "../../lib/log.ts";
import type { InstanceAddresses } from "../os/addresses.ts";
import type { HostSettings } from "../engine/context.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { Transition } from "../lifecycle/machine.ts";
import type { EngineRunner, RunnerParts } from "../engine/runner.ts";
import type { WarmPool } from "../provisioning/warm-pool.ts";
import type { StartLimiter } from "../engine/start-limiter.ts";

export interface InstanceDependencies {
  settings: HostSettings;
  slots: WarmPool;
  starts: StartLimiter;
  gateway: InstanceGateway;
  addresses: InstanceAddresses;
  /** Gives a new instance its user, which no other has; null where it cannot have one of its own. */
  allotUid(spec: InstanceSpec): number | null;
  log: Log;
  /** Makes what runs the engine of one of them. */
  runner(parts: RunnerParts): EngineRunner;
  onChange(observation: Observation): void;
  /** Gets every transition of the lifecycle of an instance, in order. */
  onTransition?(id: string, transition: Transition): void;
}
