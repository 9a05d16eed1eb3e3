// The runtimes of applications and builds: what of the machine they need to see, and where their programs are.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "../../contracts/application.ts";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { replaceLink } from "../../lib/files.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { CONF_PLACE, hasOwnPlaces, type Mount, type Sandbox } from "../sandbox/sandbox.ts";
import { installTools } from "../tools/install.ts";
import { findTool, type Tool } from "../tools/tools.ts";
import { RUNTIME_PLACE as PLACE, runtimesDir } from "./folder.ts";
import { ensureDeno } from "./deno.ts";
import { ensureNode } from "./node.ts";
import { ensurePhp } from "./php.ts";
import { SYSTEM_PATH, systemPython } from "./python.ts";

/** Where Node.js is beside another runtime, as for the assets of a build. */
const TOOLS_PLACE = "/opt/tools";

/** Where a release has the programs of its packages. */
const NODE_PROGRAMS = "node_modules/.bin";

/** A runtime that is on this machine. */
export interface ReadyRuntime {
  mounts: Mount[];
  /** Links inside the sandbox: target and place. */
  links: [target: string, place: string][];
  /** The folders of programs in the release, which come first; left out where there are none. */
  ownPrograms?: string;
  /** The search path for programs beside those of the release. */
  path: string;
  /** Variables that its programs need; left out where they need none. */
  env?: Record<string, string>;
  /** The web server, for a folder that is served. */
  server: Tool | null;
}

/** Where runtimes come from. */
export interface RuntimeSources {
  enginesDir: string;
  /** Pilvi's own pinned Bun. */
  bun: string;
}

/**
 * Brings a runtime onto this machine where it is missing.
 * @param use a build of a static site runs on Bun and needs no web server.
 * @throws PublicError when it cannot be had, with a sentence that says what can.
 */
export async function readyRuntime(
  runtime: Runtime,
  use: "build" | "run",
  sources: RuntimeSources,
  sandbox: Sandbox,
): Promise<ReadyRuntime> {
  switch (runtime.name) {
    case "node":
      return nodeRuntime(await ensureNode(runtime.version, sources.enginesDir, sources.bun), sandbox);
    case "bun":
      return await bunRuntime(sources, sandbox, runtime.node);
    case "static":
      if (use === "build") return await bunRuntime(sources, sandbox);
      return serverRuntime(await ensureServer(sources.enginesDir));
    case "php":
      return await phpRuntime(runtime, use, sources, sandbox);
    case "deno":
      return denoRuntime(await ensureDeno(sources.enginesDir, sources.bun), sandbox);
    case "python":
      return await pythonRuntime(runtime, sources, sandbox);
    case "system":
      return { mounts: [], links: [], path: SYSTEM_PATH, server: null };
  }
}

function nodeRuntime(home: string, sandbox: Sandbox): ReadyRuntime {
  const place = hasOwnPlaces(sandbox) ? PLACE : home;
  return {
    mounts: [{ from: home, to: PLACE, isWritable: false }],
    links: [],
    ownPrograms: NODE_PROGRAMS,
    path: `${place}/bin:${SYSTEM_PATH}`,
    server: null,
  };
}

/**
 * Bun answers for `node` too, as programs that begin with `#!/usr/bin/env node` need it, unless Node.js is there.
 * @param node the major version of Node.js beside it.
 */
async function bunRuntime(sources: RuntimeSources, sandbox: Sandbox, node?: string): Promise<ReadyRuntime> {
  const { bun, enginesDir } = sources;
  const place = hasOwnPlaces(sandbox) ? `${PLACE}/bin` : linkedBun(bun, enginesDir);
  const mounts = [{ from: bun, to: `${PLACE}/bin/bun`, isWritable: false }];
  const bunx: [string, string] = ["bun", `${PLACE}/bin/bunx`];
  const common = { ownPrograms: NODE_PROGRAMS, server: null };
  if (node === undefined) {
    const links: [string, string][] = [bunx, ["bun", `${PLACE}/bin/node`]];
    return { ...common, mounts, links, path: `${place}:${SYSTEM_PATH}` };
  }
  const home = await ensureNode(node, enginesDir, bun);
  const nodePlace = hasOwnPlaces(sandbox) ? TOOLS_PLACE : home;
  return {
    ...common,
    mounts: [...mounts, { from: home, to: TOOLS_PLACE, isWritable: false }],
    links: [bunx],
    path: `${nodePlace}/bin:${place}:${SYSTEM_PATH}`,
  };
}

/**
 * Without places of a sandbox, a folder of the machine has the names. Pilvis that share their engines may run on a Bun of
 * their own each, and a sandbox opens that alone.
 */
function linkedBun(bun: string, enginesDir: string): string {
  const folder = join(runtimesDir(enginesDir), `bun-${sha256Hex(bun).slice(0, 12)}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const name of ["bun", "bunx", "node"]) replaceLink(join(folder, name), bun);
  return folder;
}

/** Modules are a part of the release, at its place in this sandbox alone. */
function denoRuntime(program: string, sandbox: Sandbox): ReadyRuntime {
  if (!hasOwnPlaces(sandbox))
    throw new PublicError("Deno applications need bubblewrap, which does not run on this host.");
  return {
    mounts: [{ from: program, to: `${PLACE}/bin/deno`, isWritable: false }],
    links: [],
    path: `${PLACE}/bin:${SYSTEM_PATH}`,
    env: { DENO_DIR: "/app/.deno", DENO_NO_UPDATE_CHECK: "1" },
    server: null,
  };
}

/** A build has Node.js, or Bun in its place, beside PHP; a served folder has a web server. */
async function phpRuntime(
  { version, folder, node }: Extract<Runtime, { name: "php" }>,
  use: "build" | "run",
  sources: RuntimeSources,
  sandbox: Sandbox,
): Promise<ReadyRuntime> {
  if (!hasOwnPlaces(sandbox))
    throw new PublicError("PHP applications need bubblewrap, which does not run on this host.");
  const home = await ensurePhp(version, sources.enginesDir);
  const server = use === "run" && folder !== null ? await ensureServer(sources.enginesDir) : null;
  const mounts = [
    { from: home, to: PLACE, isWritable: false },
    ...(server === null ? [] : serverRuntime(server).mounts),
  ];
  const common = { mounts, links: [], path: `${PLACE}/bin:${SYSTEM_PATH}`, server };
  if (use === "run") return common;
  const assets = await assetPrograms(node, sources);
  return { ...common, mounts: [...mounts, ...assets.mounts], links: assets.links, path: assets.path };
}

/** Node.js beside another runtime, or Bun in its place. */
async function assetPrograms(
  node: string | null,
  { enginesDir, bun }: RuntimeSources,
): Promise<Pick<ReadyRuntime, "mounts" | "links" | "path">> {
  const path = `${PLACE}/bin:${TOOLS_PLACE}/bin:${SYSTEM_PATH}`;
  if (node !== null) {
    const home = await ensureNode(node, enginesDir, bun);
    return { mounts: [{ from: home, to: TOOLS_PLACE, isWritable: false }], links: [], path };
  }
  return {
    mounts: [{ from: bun, to: `${TOOLS_PLACE}/bin/bun`, isWritable: false }],
    links: [
      ["bun", `${TOOLS_PLACE}/bin/bunx`],
      ["bun", `${TOOLS_PLACE}/bin/node`],
    ],
    path,
  };
}

/** Systems may have it under the name `python3` alone. */
async function pythonRuntime(
  { node }: Extract<Runtime, { name: "python" }>,
  sources: RuntimeSources,
  sandbox: Sandbox,
): Promise<ReadyRuntime> {
  const { program } = await systemPython();
  if (!hasOwnPlaces(sandbox))
    throw new PublicError("Python applications need bubblewrap, which does not run on this host.");
  const assets = node === undefined ? null : await assetPrograms(node, sources);
  return {
    mounts: assets?.mounts ?? [],
    links: [[program, `${PLACE}/bin/python`], ...(assets?.links ?? [])],
    path: assets?.path ?? `${PLACE}/bin:${SYSTEM_PATH}`,
    server: null,
  };
}

function serverRuntime(server: Tool): ReadyRuntime {
  const mounts = server.home === null ? [] : [{ from: server.home, to: server.home, isWritable: false }];
  return { mounts, links: [], path: SYSTEM_PATH, server };
}

async function ensureServer(enginesDir: string): Promise<Tool> {
  const found = findTool("nginx", enginesDir);
  if (found !== null) return found;
  const [failure] = await installTools(["nginx"], enginesDir, () => undefined).catch((error: unknown) => [
    { name: "nginx", reason: messageOf(error) },
  ]);
  const installed = findTool("nginx", enginesDir);
  if (installed !== null) return installed;
  throw new PublicError(
    `The web server cannot be installed on this host: ${failure?.reason ?? "it is not there."}`,
  );
}

/** The place of a file of the configuration folder inside a sandbox. */
export function confPlace(confDir: string, sandbox: Sandbox): string {
  return hasOwnPlaces(sandbox) ? CONF_PLACE : confDir;
}

/** The place of a release, or of the source of a build, inside a sandbox. */
export function appPlace(app: string, sandbox: Sandbox): string {
  return hasOwnPlaces(sandbox) ? "/app" : app;
}

/** The search path for programs. @param app the release, as its processes see it. */
export function searchPath(
  { ownPrograms, path }: Pick<ReadyRuntime, "ownPrograms" | "path">,
  app: string,
): string {
  return ownPrograms === undefined ? path : `${join(app, ownPrograms)}:${path}`;
}

/** A path below a place. */
export function below(place: string, folder: string): string {
  return folder === "." ? place : join(place, folder);
}
