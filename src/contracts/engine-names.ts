// The engines that an instance can run with, by name.
import * as z from "zod/mini";

/** By name; `src/engines/registry.ts` leads to the facts about each. */
export const foreignEngines = ["valkey", "redis", "postgres", "mariadb", "haproxy"] as const;

const foreignEngineSchema = z.enum(foreignEngines);

/** Engines that are programs of other projects, and have to be installed. */
export type ForeignEngine = z.infer<typeof foreignEngineSchema>;

export const engineNameSchema = z.enum([...foreignEngines, "realtime", "application"]);

/** Engines that a driver may run an instance with; `realtime` and `application` are parts of Pilvi. */
export type EngineName = z.infer<typeof engineNameSchema>;
