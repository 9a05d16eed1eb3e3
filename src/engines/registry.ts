// The engines that the host can run, a line each; the folder of an engine holds the facts about it.
import type { EngineName, ForeignEngine } from "../contracts/engine-names.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import { application } from "./application/index.ts";
import type { Engine } from "./engine.ts";
import type { ForeignProgram } from "./foreign-program.ts";
import { haproxy } from "./haproxy/index.ts";
import { mariadb } from "./mariadb/index.ts";
import { postgres } from "./postgres/index.ts";
import { realtime } from "./realtime/index.ts";
import { redis } from "./redis/index.ts";
import { valkey } from "./valkey/index.ts";

const engines: Record<ForeignEngine, { program: ForeignProgram }> & Record<EngineName, unknown> = {
  haproxy,
  application,
  mariadb,
  postgres,
  realtime,
  redis,
  valkey,
};

/** The engine of Pilvi's own store. */
export const STORE_ENGINE = "postgres";

export function engineNamed(name: EngineName): Engine {
  // Callers pass an engine only specs of its own kind, which the type of a table cannot say.
  return engines[name] as Engine;
}

/** The engine of this name, if it fits the kind of the spec. */
export function engineFor(name: EngineName, kind: InstanceSpec["kind"]): Engine | undefined {
  const engine = engineNamed(name);
  return engine.kind === kind ? engine : undefined;
}

/** The part of a version within which data files stay readable. */
export function majorOf(name: EngineName, version: string): string {
  return engineNamed(name).majorOf(version);
}

/** The facts about the program of a foreign engine. */
export function programOf(name: ForeignEngine): ForeignProgram {
  return engines[name].program;
}
