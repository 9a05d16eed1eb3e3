// What all instances of a host share.
import type { Observation } from "../drivers/driver.ts";
import type { Log } from "../lib/log.ts";
import type { InstanceAddresses } from "./addresses.ts";
import type { HostSettings } from "./context.ts";
import type { InstanceGateway } from "./gateway-link.ts";
import type { EngineRunner, RunnerParts } from "./runner.ts";
import type { Slots } from "./slots.ts";
import type { Starts } from "./starts.ts";

export interface Surroundings {
  settings: HostSettings;
  slots: Slots;
  starts: Starts;
  gateway: InstanceGateway;
  addresses: InstanceAddresses;
  log: Log;
  /** Makes what runs the engine of one of them. */
  runner(parts: RunnerParts): EngineRunner;
  onChange(observation: Observation): void;
}
