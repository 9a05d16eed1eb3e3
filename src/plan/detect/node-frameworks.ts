// JavaScript frameworks: how each is recognised, and how its releases are served.
import type { Folder } from "../folder.ts";
import type { PackageJson } from "./package-json.ts";

/** How a release of a framework answers requests. */
export interface FrameworkServing {
  /** Starts its server; left out when files are served. */
  start?: string;
  /** The folder with the files to serve. */
  root?: string;
  /** Scripts that start the framework's own server, which does not serve such files. */
  unusableStart?: RegExp;
  /** Whether the application routes in the browser. */
  fallback?: boolean;
  /** Why nothing can be started or served, as a sentence that says what helps. */
  refusal?: string;
}

interface Framework {
  label: string;
  /** Any of these packages is a sign of it. */
  packages: string[];
  /** The build, for a repository without a script `build`. */
  build?: string;
  serving(packageJson: PackageJson, folder: Folder): FrameworkServing;
}

const files =
  (root: string, fallback = false) =>
  () => ({ root, fallback });
const starts = (start: string) => () => ({ start });
const server = () => ({});

/** The first that fits counts, so a framework stands before the tools that it is made of. */
export const FRAMEWORKS: Framework[] = [
  {
    label: "Next.js",
    packages: ["next"],
    build: "next build",
    serving: (_, folder) =>
      /\boutput\s*:\s*["'`]export["'`]/.test(folder.configText("next"))
        ? { root: "out", unusableStart: /^(?:npx )?next start\b/ }
        : { start: "next start" },
  },
  {
    label: "Nuxt",
    packages: ["nuxt", "nuxt3"],
    build: "nuxt build",
    serving: (packageJson, folder) =>
      /\bnux[it] generate\b/.test(packageJson.script("build") ?? "") ||
      /\bpreset\s*:\s*["'`]static["'`]/.test(folder.configText("nuxt"))
        ? { root: ".output/public" }
        : { start: "node .output/server/index.mjs" },
  },
  {
    label: "Astro",
    packages: ["astro"],
    build: "astro build",
    serving: (packageJson) =>
      packageJson.dependsOn("@astrojs/node")
        ? { start: "HOST=127.0.0.1 node ./dist/server/entry.mjs" }
        : { root: "dist" },
  },
  {
    label: "SvelteKit",
    packages: ["@sveltejs/kit"],
    build: "vite build",
    serving: (packageJson) => {
      if (packageJson.dependsOn("@sveltejs/adapter-node")) return { start: "HOST=127.0.0.1 node build" };
      if (packageJson.dependsOn("@sveltejs/adapter-static")) return { root: "build" };
      return {
        refusal:
          "This SvelteKit application has no adapter that makes a server; install @sveltejs/adapter-node, or @sveltejs/adapter-static for files alone.",
      };
    },
  },
  {
    label: "React Router",
    packages: ["@react-router/dev", "@react-router/serve"],
    build: "react-router build",
    serving: (packageJson, folder) =>
      /\bssr\s*:\s*false\b/.test(folder.configText("react-router"))
        ? { root: "build/client", fallback: true }
        : packageJson.dependsOn("@react-router/serve")
          ? { start: "HOST=127.0.0.1 react-router-serve ./build/server/index.js" }
          : {},
  },
  {
    label: "Remix",
    packages: ["@remix-run/dev", "@remix-run/serve"],
    build: "remix vite:build",
    serving: (packageJson) =>
      packageJson.dependsOn("@remix-run/serve")
        ? { start: "HOST=127.0.0.1 remix-serve ./build/server/index.js" }
        : {},
  },
  {
    label: "TanStack Start",
    packages: ["@tanstack/react-start", "@tanstack/solid-start"],
    serving: starts("node .output/server/index.mjs"),
  },
  { label: "SolidStart", packages: ["@solidjs/start"], serving: starts("node .output/server/index.mjs") },
  {
    label: "NestJS",
    packages: ["@nestjs/core"],
    build: "nest build",
    serving: starts("node dist/main.js"),
  },
  { label: "Gatsby", packages: ["gatsby"], build: "gatsby build", serving: files("public") },
  { label: "Docusaurus", packages: ["@docusaurus/core"], build: "docusaurus build", serving: files("build") },
  { label: "Eleventy", packages: ["@11ty/eleventy"], build: "eleventy", serving: files("_site") },
  {
    label: "Angular",
    packages: ["@angular/core"],
    build: "ng build",
    serving: (packageJson, folder) =>
      packageJson.dependsOn("@angular/ssr") ? {} : { root: angularRoot(folder), fallback: true },
  },
  {
    label: "Create React App",
    packages: ["react-scripts"],
    build: "react-scripts build",
    serving: files("build", true),
  },
  {
    label: "Vue CLI",
    packages: ["@vue/cli-service"],
    build: "vue-cli-service build",
    serving: files("dist", true),
  },
  { label: "Fastify", packages: ["fastify"], serving: server },
  { label: "Hono", packages: ["hono"], serving: server },
  { label: "Koa", packages: ["koa"], serving: server },
  { label: "Hapi", packages: ["@hapi/hapi"], serving: server },
  { label: "Elysia", packages: ["elysia"], serving: server },
  { label: "Express", packages: ["express"], serving: server },
  { label: "Vite", packages: ["vite"], build: "vite build", serving: files("dist", true) },
];

/** Scripts of this form serve developers, with sources instead of builds. */
const DEVELOPMENT =
  /^(?:npx )?(?:next dev|nux[it] dev|nuxt$|astro$|astro dev\b|(?:@11ty\/)?eleventy .*--serve\b|vite(?: |$)|react-router dev|remix (?:vite:)?dev|ng serve|react-scripts start|vue-cli-service serve|gatsby (?:develop|serve)|docusaurus (?:start|serve)|nest start(?: --watch)?$|nodemon |tsx watch )/;

/** The framework of an application, if any is known. */
export function frameworkOf(packageJson: PackageJson): Framework | undefined {
  return FRAMEWORKS.find(({ packages }) => packageJson.dependsOn(...packages));
}

/** A build before the server of a script, which may be one for production. */
const BUILD_FIRST = /^(?:npx )?vite build\b[^&|;]*(?:&&|;)\s*/;

/** Whether a script starts a server for development. */
export function isDevelopment(script: string): boolean {
  return DEVELOPMENT.test(script.trim().replace(BUILD_FIRST, ""));
}

/** Angular names the folder of its output in angular.json; without it, the default holds. */
function angularRoot(folder: Folder): string {
  const text = folder.text("angular.json") ?? "";
  const output = /"outputPath"\s*:\s*"([\w./-]{1,200})"/.exec(text)?.[1];
  if (output !== undefined && !output.split("/").includes("..")) return `${output}/browser`;
  const project = /"projects"\s*:\s*\{\s*"([\w.-]{1,100})"/.exec(text)?.[1];
  return project === undefined ? "dist" : `dist/${project}/browser`;
}
