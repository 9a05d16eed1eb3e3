// `pilvi apps` and `pilvi environments` against a server that speaks the documented shapes.
import { afterEach, describe, expect, test } from "bun:test";
import { CommanderError } from "commander";
import {
  badGateway,
  bodies,
  closeServers,
  failureOf,
  list,
  noContent,
  notFound,
  one,
  requests,
  serve,
} from "../test-server.ts";
import { type FakeIo, fakeIo, runCommand } from "../test-support.ts";
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

describe("apps set-repository", () => {
  const address = "https://git.example.com/shop/web.git";
  const fetched = {
    ...application,
    meta: { ...application.meta, repository_url: address, repository_username: "ada" },
  };
  const routes = { ...named, [`PATCH ${path}`]: one(fetched) };
  const set = (io: FakeIo, ...options: string[]) =>
    runCommand(io, serve(routes), "apps", "set-repository", "Web shop", address, ...options);

  test("asks for a password without showing it, and reads it from a pipe", async () => {
    const asked = fakeIo({ isInputTerminal: true, askHidden: async () => "typed" });
    await set(asked, "--username", "ada", "--password");
    expect(asked.stdout).toBe(`Web shop is fetched from ${address}, as ada at its next deployment.\n`);
    await set(fakeIo({ readInput: async () => "piped\n" }), "--password");
    await set(fakeIo(), "--no-password");
    await set(fakeIo());
    expect(bodies).toEqual([
      { repository: address, repository_username: "ada", repository_password: "typed" },
      { repository: address, repository_password: "piped" },
      { repository: address, repository_password: null },
      { repository: address },
    ]);
  });

  test("changes nothing without a password that was to be given", async () => {
    await expect(set(fakeIo(), "--password")).rejects.toThrow("No password was given");
    expect(requests).not.toContain(`PATCH ${path}`);
  });
});

test("apps set-root names the folder in the repository, and an empty text is the top", async () => {
  const url = serve({ ...named, [`PATCH ${path}`]: one(application) });
  const io = fakeIo();
  await runCommand(io, url, "apps", "set-root", "Web shop", "apps/web");
  await runCommand(io, url, "apps", "set-root", "Web shop", "");
  expect(bodies).toEqual([{ root_directory: "apps/web" }, { root_directory: null }]);
  expect(io.stdout).toStartWith("Web shop is made from the folder apps/web at its next deployment.\n");
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

/** Deletes the application while a read of it gets these answers. */
async function remove(answers: Parameters<typeof serve>[0][string]) {
  const url = serve({ ...named, [`GET ${path}`]: answers, [`DELETE ${path}`]: noContent });
  const io = fakeIo();
  const failure = await failureOf(
    runCommand(io, url, "apps", "delete", "Web shop", "--yes", "--wait", "--timeout", "5"),
  );
  return [io.stdout, failure];
}

test("delete --wait outlasts an absence of Pilvi, and says at last that the deletion goes on", async () => {
  expect(await remove([one(application), badGateway, badGateway, notFound])).toEqual([
    `Deleted the application Web shop (${APPLICATION_ID}).\n`,
    undefined,
  ]);
  requests.length = 0;
  expect(await remove([one(application), badGateway])).toEqual([
    "",
    {
      text: expect.stringMatching(
        /^After 5 s, Pilvi does not answer: The server at http:\S+ answered with status 502 and no message\.\nPilvi goes on deleting the application Web shop\.$/,
      ),
      exitCode: 1,
    },
  ]);
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

test("environments purge-edge-cache says what it has done", async () => {
  const url = serve({
    ...named,
    [`GET ${environmentPath}`]: one(environment),
    [`POST ${environmentPath}/purge-edge-cache`]: one(environment),
  });
  const io = fakeIo();
  const words = ["environments", "purge-edge-cache", ENVIRONMENT_ID, "--app", APPLICATION_ID];
  await runCommand(io, url, ...words);
  expect(io.stdout).toBe("Purged the edge cache of production.\n");
});

test.each([
  [
    ["--health-path", "/up", "--serving-mode", "php", "--serving-root", "www"],
    { health_path: "/up", serving_mode: "php", serving_root: "www" },
  ],
  [["--php-version", "8.2", "--node-version", ""], { php_version: "8.2", node_version: null }],
  [
    ["--static-root", "build", "--serving-fallback", "index.html"],
    { serving_mode: "static", serving_root: "build", serving_fallback: "index.html" },
  ],
  [["--static-root", "", "--health-path", ""], { health_path: null, serving_mode: null, serving_root: null }],
])("environments update with %j sends %j", async (options, change) => {
  const url = serve({
    ...named,
    [`GET ${environmentPath}`]: one(environment),
    [`PATCH ${environmentPath}`]: one(environment),
  });
  const words = ["environments", "update", ENVIRONMENT_ID, "--app", APPLICATION_ID];
  await runCommand(fakeIo(), url, ...words, ...options);
  expect(bodies).toEqual([change]);
});

test("environments update sends what is named, and null for an empty command", async () => {
  const url = serve({
    ...named,
    [`GET ${environmentPath}`]: one(environment),
    [`PATCH ${environmentPath}`]: one(environment),
  });
  const options = [
    "--build-command",
    "",
    "--no-hibernate",
    "--block-bots",
    "ai_crawler,ai_search",
    "--under-attack",
    "--no-purge-on-deploy",
  ];
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
      firewall_under_attack_mode: true,
      uses_purge_edge_cache_on_deploy: false,
    },
  ]);
});
