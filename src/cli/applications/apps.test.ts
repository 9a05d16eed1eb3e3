// `pilvi apps` and `pilvi environments` against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import { CommanderError } from "commander";
import { bodies, closeServers, list, noContent, notFound, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import {
  APPLICATION_ID,
  ENVIRONMENT_ID,
  environmentPath,
  sampleApplication,
  sampleEnvironment,
  URL_OF_IT,
} from "./test-support.ts";

afterEach(closeServers);

const path = `/applications/${APPLICATION_ID}`;
const application = sampleApplication();
const environment = sampleEnvironment();
const named = {
  "GET /applications": list(application),
  [`GET ${path}`]: one(application, 200, [environment]),
};

test("apps list shows a table, or how to begin", async () => {
  const io = fakeIo();
  await runCommand(io, serve({ "GET /applications": list(application) }), "apps", "list");
  expect(io.stdout).toMatch(/^Web shop {2}available {2}1 +us-east-1 {2}app-/m);
  const empty = fakeIo();
  await runCommand(empty, serve({ "GET /applications": list() }), "apps", "list");
  expect(empty.stdout).toContain("pilvi deploy");
});

test("apps show has the remote for git, and the environments with their addresses", async () => {
  const io = fakeIo();
  const url = serve(named);
  await runCommand(io, url, "apps", "show", "Web shop");
  expect(io.stdout).toContain(`${url}/git/web-shop.git`);
  expect(io.stdout).toMatch(new RegExp(`^production {2}running {2}main {4}${URL_OF_IT}`, "m"));
  const bySlug = fakeIo();
  await runCommand(bySlug, url, "apps", "show", "web-shop");
  expect(bySlug.stdout).toBe(io.stdout);
});

test("apps rotate-deploy-key prints the new key, and apps show has it", async () => {
  const key = "ssh-ed25519 AAAA pilvi-app";
  const withKey = { ...application, meta: { ...application.meta, deploy_key: key } };
  const url = serve({
    "GET /applications": list(withKey),
    [`GET ${path}`]: one(withKey, 200, [environment]),
    [`POST ${path}/rotate-deploy-key`]: one(withKey),
  });
  const rotated = fakeIo();
  await runCommand(rotated, url, "apps", "rotate-deploy-key", "Web shop");
  expect(rotated.stdout).toBe(`${key}\n`);
  const shown = fakeIo();
  await runCommand(shown, url, "apps", "show", "Web shop");
  expect(shown.stdout).toContain(key);
});

test("apps delete needs --yes where nobody can be asked, and --wait waits until it is gone", async () => {
  const error = await runCommand(fakeIo(), serve({}), "apps", "delete", "Web shop").catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CommanderError);
  expect(error).toMatchObject({ exitCode: 2 });
  const url = serve({
    ...named,
    [`GET ${path}`]: [one(application), one(application), notFound],
    [`DELETE ${path}`]: noContent,
  });
  const io = fakeIo();
  await runCommand(io, url, "apps", "delete", "Web shop", "--yes", "--wait");
  expect(io.stdout).toBe(`Deleted the application Web shop (${APPLICATION_ID}).\n`);
});

test("environments are listed, created and deleted in the application that --app names", async () => {
  const url = serve({
    ...named,
    [`GET ${path}/environments`]: list(environment),
    [`POST ${path}/environments`]: one(sampleEnvironment({ name: "staging" }, null), 201),
    [`GET ${environmentPath}`]: one(environment),
    [`DELETE ${environmentPath}`]: noContent,
  });
  const io = fakeIo();
  await runCommand(io, url, "environments", "list", "--app", "Web shop");
  expect(io.stdout).toContain(ENVIRONMENT_ID);
  await runCommand(
    fakeIo(),
    url,
    "environments",
    "create",
    "staging",
    "--branch",
    "dev",
    "--app",
    "Web shop",
  );
  expect(bodies).toEqual([{ name: "staging", branch: "dev" }]);
  await runCommand(fakeIo(), url, "environments", "delete", "production", "--yes", "--app", "Web shop");
  expect(requests).toContain(`DELETE ${environmentPath}`);
});

test("environments update sends what is named, and null for an empty command", async () => {
  const url = serve({
    ...named,
    [`GET ${environmentPath}`]: one(environment),
    [`PATCH ${environmentPath}`]: one(environment),
  });
  const options = ["--build-command", "", "--no-hibernate", "--block-bots", "ai_crawler,ai_search"];
  await runCommand(
    fakeIo(),
    url,
    "environments",
    "update",
    ENVIRONMENT_ID,
    "--app",
    APPLICATION_ID,
    ...options,
  );
  expect(bodies).toEqual([
    {
      build_command: null,
      uses_hibernation: false,
      firewall_bot_categories: ["ai_crawler", "ai_search"],
    },
  ]);
});
