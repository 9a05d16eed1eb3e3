// The engines that the host can run.
import type { EngineName, InstanceSpec } from "../drivers/driver.ts";
import type { Engine } from "./engine.ts";
import { postgres } from "./postgres/index.ts";
import { redis } from "./redis/index.ts";
import { valkey } from "./valkey/index.ts";

const engines = { postgres, redis, valkey };

/** The engine of a name, when the host can run it and it fits the kind of the spec. */
export function engineFor(name: EngineName, kind: InstanceSpec["kind"]): Engine | undefined {
  const engine = name in engines ? engines[name as keyof typeof engines] : undefined;
  // Whoever runs an engine passes it specs of this kind only, which the type of a table cannot say.
  return engine?.kind === kind ? (engine as unknown as Engine) : undefined;
}
