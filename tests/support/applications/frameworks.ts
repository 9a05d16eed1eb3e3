// Small applications of real frameworks, whose packages come from the registries of npm and pip.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mustRun } from "../../../src/engines/install/run.ts";
import type { Files } from "../pilvi/applications.ts";

/** The source of an application that answers `/` with a text. */
export type Framework = (text: string) => Files;

/** Express with a lock file, which its build installs from. */
export function express(lock: string): Framework {
  return (text) => ({
    "package.json": EXPRESS_MANIFEST,
    "package-lock.json": lock,
    "server.js": `
      import express from "express";
      const app = express();
      app.get("/", (request, response) => {
        response.set("x-process", process.env.PORT).send(${JSON.stringify(text)});
      });
      app.get("/items/:id", (request, response) => response.json({ id: request.params.id }));
      app.listen(Number(process.env.PORT));
    `,
  });
}

const EXPRESS_MANIFEST = manifest({ start: "node server.js" }, { express: "5.3.0" });

/**
 * The lock file of npm's own for Express.
 * @throws Error with the last output of npm when its registry cannot be reached.
 */
export async function expressLock(): Promise<string> {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-lock-"));
  try {
    writeFileSync(join(folder, "package.json"), EXPRESS_MANIFEST);
    await mustRun(["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"], folder);
    return await Bun.file(join(folder, "package-lock.json")).text();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const fastify: Framework = (text) => ({
  "package.json": manifest({ start: "node server.js" }, { fastify: "5.12.8" }),
  "server.js": `
    import Fastify from "fastify";
    const app = Fastify();
    app.get("/", async () => ${JSON.stringify(text)});
    app.get("/items/:id", async (request) => ({ id: request.params.id }));
    await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
  `,
});

export const honoOnBun: Framework = (text) => ({
  "bunfig.toml": "# This program runs on Bun.\n",
  "package.json": manifest({ start: "bun server.ts" }, { hono: "4.13.19" }),
  "server.ts": `
    import { Hono } from "hono";
    const app = new Hono();
    app.get("/", (context) => context.text(${JSON.stringify(text)}));
    app.get("/items/:id", (context) => context.json({ id: context.req.param("id") }));
    export default { port: Number(process.env.PORT), fetch: app.fetch };
  `,
});

export const flask: Framework = (text) => ({
  "requirements.txt": "Flask==3.0.3\ngunicorn==23.0.0\n",
  "app.py": [
    "from flask import Flask",
    "app = Flask(__name__)",
    '@app.get("/")',
    "def home():",
    `    return ${JSON.stringify(text)}`,
    '@app.get("/items/<id>")',
    "def item(id):",
    "    return {'id': id}",
    "",
  ].join("\n"),
});

/** A page whose script, which Vite puts together, writes the text. */
export const vite: Framework = (text) => ({
  "package.json": manifest({ build: "vite build" }, { vite: "8.3.8" }),
  "index.html":
    '<!doctype html><title>Shop</title><p id="text"></p><script type="module" src="/main.js"></script>\n',
  "main.js": `import { text } from "./text.js";\ndocument.querySelector("#text").textContent = text;\n`,
  "text.js": `export const text = ${JSON.stringify(text)};\n`,
});

/** A page that Next.js renders, and a route with a parameter. */
export const next: Framework = (text) => ({
  "package.json": manifest(
    { build: "next build", start: "next start" },
    { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" },
  ),
  "app/layout.js": `export default function Layout({ children }) {
    return <html lang="en"><body>{children}</body></html>;
  }`,
  "app/page.js": `"use client";
    import { useEffect, useState } from "react";
    export default function Page() {
      const [text, setText] = useState("");
      useEffect(() => setText(${JSON.stringify(text)}), []);
      return <p id="text">{text}</p>;
    }`,
  "app/text/route.js": `export const GET = () => new Response(${JSON.stringify(text)});`,
  "app/items/[id]/route.js": `export async function GET(request, { params }) {
    return Response.json({ id: decodeURIComponent((await params).id) });
  }`,
  "app/picture/route.js": `export const GET = () =>
    new Response(Buffer.from("${PICTURE}", "base64"), { headers: { "content-type": "image/png" } });`,
  "app/later/[id]/page.js": `export const revalidate = 60;
    export const generateStaticParams = () => [];
    export default async function Later({ params }) { return <p>{(await params).id}</p>; }`,
  "app/written/route.js": `import { readdirSync } from "node:fs";
    export const dynamic = "force-dynamic";
    export const GET = () => Response.json(readdirSync(".next/server/route-cache", { recursive: true }));`,
});

/** A PNG of one pixel. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A page that Nuxt renders, and a route with a parameter; Bun installs its hundreds of packages. */
export const nuxt: Framework = (text) => ({
  "package.json": manifest({ build: "nuxt build" }, { nuxt: "4.5.2" }, BUN),
  "nuxt.config.ts": "export default defineNuxtConfig({ telemetry: false });\n",
  "app/app.vue": [
    '<script setup>const text = ref("");',
    `onMounted(() => { text.value = ${JSON.stringify(text)}; });</script>`,
    '<template><p id="text">{{ text }}</p></template>',
    "",
  ].join("\n"),
  "server/routes/text.js": `export default defineEventHandler(() => ${JSON.stringify(text)});\n`,
  "server/routes/items/[id].js":
    'export default defineEventHandler((event) => ({ id: getRouterParam(event, "id", { decode: true }) }));\n',
});

/** A page that Astro has written, with a script in it; Bun installs its hundreds of packages. */
export const astro: Framework = (text) => ({
  "package.json": manifest({ build: "astro build" }, { astro: "7.3.5" }, BUN),
  "src/pages/index.astro": [
    '<html lang="en"><head><title>Shop</title></head><body><p id="text"></p></body></html>',
    `<script>document.querySelector("#text").textContent = ${JSON.stringify(text)};</script>`,
    "",
  ].join("\n"),
  "src/pages/text.js": `export const GET = () => new Response(${JSON.stringify(text)});\n`,
});

/** Has Bun install the packages, which takes a tenth of npm's time. */
const BUN = { packageManager: `bun@${Bun.version}` };

function manifest(
  scripts: Record<string, string>,
  dependencies: Record<string, string>,
  more: Record<string, string> = {},
): string {
  return JSON.stringify({ name: "shop", private: true, type: "module", scripts, dependencies, ...more });
}
