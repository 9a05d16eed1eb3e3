// Health checks and public folders that an environment names: releases that would fail without them serve.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bunServer, type Files, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
});

afterAll(async () => {
  await pilvi.close();
});

/** A server that fails at every path but one. */
function failing(word: string, good = "none"): Files {
  return {
    ...bunServer(word),
    "server.ts": `
      Bun.serve({
        port: Number(process.env.PORT),
        hostname: "127.0.0.1",
        fetch({ url }) {
          const { pathname } = new URL(url);
          return new Response(${JSON.stringify(word)}, { status: pathname === "/${good}" ? 200 : 500 });
        },
      });
    `,
  };
}

/** A site whose build, which no framework names, writes its page into a folder. */
function site(build: string): Files {
  return {
    "bunfig.toml": "# This program runs on Bun.\n",
    "package.json": JSON.stringify({ name: "pages", private: true, scripts: { build } }),
  };
}

async function change(settings: Record<string, unknown>): Promise<void> {
  const { status } = await pilvi.api("PATCH", `/environments/${application.environmentId}`, settings);
  expect(status).toBe(200);
}

describe("a server whose / fails", () => {
  test("serves when the health path answers", async () => {
    await change({ health_path: "/up" });
    await application.deploy(failing("by path", "up"));
    const answer = await application.fetch("/");
    expect([answer.status, await answer.text()]).toEqual([500, "by path"]);
  });

  test("serves when its port is open, where nothing else is asked", async () => {
    await change({ health_path: "port" });
    await application.deploy(failing("by port"));
    expect(await application.text("/")).toBe("by port");
  });
});

describe("a build of files", () => {
  const build = "mkdir -p public && echo a page > public/index.html";

  test("has no plan without a folder, and the refusal names the setting", async () => {
    await change({ health_path: null });
    const { attributes } = await application.tryToDeploy(site(build));
    expect(attributes.failure_reason).toContain("set serving_root to the folder that its build makes");
  });

  test("is served from the folder that the environment names", async () => {
    await change({ serving_root: "public" });
    await application.deploy(site(build));
    expect(await application.text("/")).toBe("a page\n");
    const { attributes } = await application.environment();
    expect(attributes.serving).toEqual({ mode: "static", root: "public" });
    expect((await application.fetch("/cart/7")).status).toBe(404);
  });

  test("answers paths without a file with its page, where it routes in the browser", async () => {
    await change({ serving_fallback: "index.html" });
    await application.deploy(site(build));
    expect(await application.text("/cart/7")).toBe("a page\n");
  });

  test("is refused when the folder is a link out of the release", async () => {
    const { attributes } = await application.tryToDeploy(site("ln -s /etc public"));
    expect(attributes.status).toBe("build.failed");
    expect(attributes.failure_reason).toContain("made no files in public");
    expect(await application.text("/")).toBe("a page\n");
  });
});
