// `pilvi env` with values and names that people get wrong.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodies, closeServers, failureOf, one, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { environmentPath, link, sampleEnvironment, temporaryFolder } from "./test-support.ts";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(folder.path);
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

/** Runs `pilvi env` in the linked folder. */
async function env(environment: ReturnType<typeof sampleEnvironment>, ...args: string[]) {
  const errors = {
    "variables.1.value": ["The field variables.1.value must have at most 32768 characters."],
    "variables.0.key": ["The field variables.0.key may not begin with PILVI_."],
    variables: ["The field variables is too long."],
  };
  const url = serve({
    [`GET ${environmentPath}`]: one(environment),
    [`POST ${environmentPath}/variables`]: () =>
      Response.json({ message: "Wrong.", errors }, { status: 422 }),
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "env", ...args);
  return io;
}

const deployed = () => {
  const environment = sampleEnvironment();
  return {
    ...environment,
    meta: { ...environment.meta, variables_of_builds: ["VITE_TITLE", "NEXT_PUBLIC_API"] },
  };
};

/** What `pilvi env` prints on stderr where its change succeeds. */
async function hintOf(environment: ReturnType<typeof sampleEnvironment>, ...args: string[]) {
  const url = serve({
    [`GET ${environmentPath}`]: one(environment),
    [`POST ${environmentPath}/variables`]: one(environment),
    [`POST ${environmentPath}/variables/delete`]: one(sampleEnvironment()),
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path, readInput: async () => "VITE_TITLE=x\n" });
  await runCommand(io, url, "env", ...args);
  return io.stderr;
}

test.each([[["set", "VITE_TITLE=x", "PORT_OF_IT=1"]], [["unset", "VITE_TITLE"]], [["push", "-"]]])(
  "a variable of builds needs a deployment, says %j",
  async (args) => {
    const hint =
      "VITE_TITLE is a part of builds: what is built keeps the former value. Deploy anew with: pilvi deploy\n";
    expect(await hintOf(deployed(), ...args)).toBe(hint);
  },
);

test("no other variable needs one, nor does a variable before the first deployment", async () => {
  expect(await hintOf(deployed(), "set", "GREETING=hello")).toBe("");
  expect(await hintOf(deployed(), "set", "VITE_TITLE=x", "NEXT_PUBLIC_API=y")).toStartWith(
    "VITE_TITLE, NEXT_PUBLIC_API are parts of builds: what is built keeps the former values.",
  );
  const fresh = deployed();
  fresh.relationships.currentDeployment = { data: null };
  expect(await hintOf(fresh, "set", "VITE_TITLE=x")).toBe("");
});

test("an error about a variable names it", async () => {
  const failure = await failureOf(env(sampleEnvironment(), "set", "SMALL=1", "BIG=2"));
  expect(failure).toEqual({
    text: [
      "BIG: Its value must have at most 32768 characters.",
      "SMALL: Its key may not begin with PILVI_.",
      "variables: The field variables is too long.",
    ].join("\n"),
    exitCode: 1,
  });
});

test.each(["2FA=x", "MY KEY=x", "MY-KEY=x", "SCHLÜSSEL=x"])("%s is refused by the name", async (text) => {
  const failure = await failureOf(env(sampleEnvironment(), "set", text));
  expect(failure?.text).toStartWith(`${text.slice(0, -2)} is no name of a variable`);
  expect(failure?.exitCode).toBe(2);
  expect(bodies).toEqual([]);
});

test("a value of several lines stays in its row, and looks like no variable of its own", async () => {
  const variables = [{ key: "CERT", value: "first\nROOT  yes\r\n\tlast" }];
  const environment = sampleEnvironment({ "": { environment_variables: variables } });
  const { stdout } = await env(environment, "list", "--show");
  expect(stdout).toBe("NAME  VALUE\nCERT  first\\nROOT  yes\\r\\n\\tlast\n");
});

test("a file that is no text sets nothing", async () => {
  writeFileSync(join(folder.path, ".env"), Buffer.from([0x41, 0x3d, 0xff, 0x0a]));
  const failure = await failureOf(env(sampleEnvironment(), "push"));
  expect(failure?.text).toBe(".env is no text in UTF-8.");
  expect(bodies).toEqual([]);
});

test("pull says when a deployment would take the secrets along", async () => {
  const { stderr } = await env(sampleEnvironment(), "pull");
  expect(stderr).toBe(
    "`pilvi deploy` would upload .env with its secrets. Name it in a .gitignore to keep it here.\n",
  );
  writeFileSync(join(folder.path, ".gitignore"), ".env\n");
  expect((await env(sampleEnvironment(), "pull", "--force")).stderr).toBe("");
});
