// The engines that an instance can run with, by name.
import * as z from "zod/mini";

const FOREIGN = ["valkey", "redis", "postgres", "mysql", "mariadb"] as const;

export const foreignEngineSchema = z.enum(FOREIGN);

/** Engines that are programs of others, and have to be installed. */
export type ForeignEngine = z.infer<typeof foreignEngineSchema>;

export const engineNameSchema = z.enum([...FOREIGN, "realtime"]);

/** Engines that a driver may run an instance with; `realtime` is a part of Pilvi. */
export type EngineName = z.infer<typeof engineNameSchema>;
