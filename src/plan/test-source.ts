// A source whose files are given as texts.
import { sha256Hex } from "../lib/secrets.ts";
import type { SourceEntry, SourceFiles } from "./source-files.ts";
import type { PlanSettings } from "./settings.ts";

/** Settings that leave everything to the repository. */
export const NO_SETTINGS: PlanSettings = {
  rootDirectory: "",
  nodeVersion: null,
  phpVersion: null,
  buildCommand: null,
  deployCommand: null,
  sleeps: { environment: "production" },
  startCommand: null,
  healthPath: null,
  servingMode: null,
  servingRoot: null,
  servingFallback: null,
};

/** @param links paths that are links. @param submodules paths that are submodules. */
export function sourceOf(
  files: Record<string, string | Uint8Array>,
  links: string[] = [],
  submodules: string[] = [],
): SourceFiles {
  const contents = new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    ]),
  );
  const entries: SourceEntry[] = [
    ...[...contents].map(([path, content]) => ({
      path,
      kind: "file" as const,
      bytes: content.length,
      object: sha256Hex(content),
    })),
    ...links.map((path) => ({ path, kind: "link" as const, bytes: 0, object: "" })),
    ...submodules.map((path) => ({ path, kind: "submodule" as const, bytes: 0, object: "" })),
  ];
  return {
    entries,
    read: (paths) =>
      Promise.resolve(
        new Map(
          paths.flatMap((path) => {
            const content = contents.get(path);
            return content === undefined ? [] : [[path, content] as const];
          }),
        ),
      ),
  };
}
