// The host's answers to its driver beside observations: offers, readings, errors, and the lines of a watch.
import * as z from "zod/mini";
import { isolationSchema } from "./application.ts";
import { engineNameSchema } from "./engine-names.ts";
import { observationSchema } from "./observation.ts";
import { availableRuntimesSchema } from "./plan.ts";

const offeredEngineSchema = z.strictObject({
  name: engineNameSchema,
  version: z.string(),
  /** The part of the version that an instance keeps for life, such as `17` for Postgres, `10.11` for MariaDB. */
  major: z.string(),
  /** The extensions that customers can create, for an engine that has any. */
  extensions: z.exactOptional(z.array(z.strictObject({ name: z.string(), version: z.string() }))),
});

/** An engine that a new instance could get. */
export type OfferedEngine = z.infer<typeof offeredEngineSchema>;

export const offerSchema = z.strictObject({
  /** Engines that are installed: the newest version of each major version, preferred engines first. */
  engines: z.array(offeredEngineSchema),
  /** Memory of the machine, in bytes. */
  memoryBytes: z.number(),
  /** What separates applications and builds from the machine; left out by a driver that runs none. */
  isolation: z.exactOptional(isolationSchema),
  /** The runtimes that applications can have; left out by a driver that runs none. */
  runtimes: z.exactOptional(availableRuntimesSchema),
});

/** The engines and the memory that a driver can offer. */
export type Offer = z.infer<typeof offerSchema>;

export const storageReadingSchema = z.strictObject({
  /** Names this reading, so that the next reading has only what changed since. */
  cursor: z.string(),
  /** Bytes by instance id, for each instance that was measured. */
  bytes: z.record(z.string(), z.number()),
});

/** The disk usage of instances. */
export type StorageReading = z.infer<typeof storageReadingSchema>;

/** The ports of the question at which no program listens. */
export const freePortsSchema = z.array(z.int());

const valuesSchema = z.record(z.string(), z.number());

export const figuresSchema = z.strictObject({
  whole: valuesSchema,
  parts: z.array(z.strictObject({ id: z.string(), figures: valuesSchema })),
});

/** Gauges by name: of an instance, and of each of its parts. */
export type Figures = z.infer<typeof figuresSchema>;

/** A line of a watch: an observation, or, after an observation of each instance, the ids of all. */
export const watchLineSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("observation"), observation: observationSchema }),
  z.strictObject({ type: z.literal("synced"), ids: z.array(z.string()) }),
]);

export type WatchLine = z.infer<typeof watchLineSchema>;

/** The body of a refused order: a sentence that may be shown to anyone. */
export const refusalSchema = z.strictObject({ message: z.string() });

/** The answer to an order to end an instance's engine. */
export const endAnswerSchema = z.strictObject({ isRunning: z.boolean() });
