// The requests of the driver about builds, releases and environments.
import * as z from "zod/mini";
import { buildLogSliceSchema, buildSchema, releaseSchema, type BuildSpec } from "../../contracts/builds.ts";
import type { Driver } from "../driver.ts";
import { bounded } from "./bounded.ts";
import type { HostConnection } from "./host-connection.ts";

type Builds = Pick<
  Driver,
  | "build"
  | "observeBuild"
  | "buildLog"
  | "cancelBuild"
  | "removeBuild"
  | "release"
  | "removeRelease"
  | "removeEnvironment"
>;

/** The part of the driver that makes releases. */
export function builds({ ask, askFor }: HostConnection): Builds {
  return {
    build: (spec, source, signal) =>
      askFor(buildSchema, "POST", "/builds", { body: orderOf(spec, source), signal: signal ?? null }),
    observeBuild: (id) => askFor(z.nullable(buildSchema), "GET", `/builds/${id}`, bounded()),
    buildLog: (id, query, signal) =>
      askFor(buildLogSliceSchema, "POST", `/builds/${id}/log`, { body: JSON.stringify(query), signal }),
    cancelBuild: (id) => askFor(buildSchema, "POST", `/builds/${id}/cancel`, bounded()),
    removeBuild: async (id) => void (await ask("DELETE", `/builds/${id}`, bounded())),
    release: (id) => askFor(z.nullable(releaseSchema), "GET", `/releases/${id}`, bounded()),
    removeRelease: async (id) => void (await ask("DELETE", `/releases/${id}`, bounded())),
    removeEnvironment: async (id) => void (await ask("DELETE", `/environments/${id}`, bounded())),
  };
}

/** A line with the spec, then the source. */
function orderOf(
  spec: BuildSpec,
  source: ReadableStream<Uint8Array> | null,
): ReadableStream<Uint8Array> | Blob {
  const line = `${JSON.stringify(spec)}\n`;
  if (source === null) return new Blob([line]);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(line)),
  });
  // A source that breaks off breaks the request off, which then fails with the source's own error.
  source.pipeTo(writable).catch(() => undefined);
  return readable;
}
