// Deploys applications in tests: their files are uploaded, and their addresses asked as a browser asks them.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ApplicationResource } from "../../../src/resources/applications/schema.ts";
import type { DeploymentResource } from "../../../src/resources/applications/deployments/schema.ts";
import type { EnvironmentResource } from "../../../src/resources/applications/environments/schema.ts";
import { TOKEN, type TestPilvi, until } from "./pilvi.ts";

/** The files of a source by path. */
export type Files = Record<string, string | Uint8Array>;

/** A server on Bun that answers every path with a text, and with the variables that are asked for in the query. */
export function bunServer(text: string): Files {
  return {
    "bunfig.toml": "# This program runs on Bun.\n",
    "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
    "server.ts": `
      let counted = 0;
      const marked = { headers: { "cache-control": "public, max-age=300" } };
      const server = Bun.serve({
        port: Number(process.env.PORT),
        hostname: "127.0.0.1",
        fetch(request) {
          const { searchParams } = new URL(request.url);
          if (searchParams.has("counted")) return new Response(String((counted += 1)), marked);
          const name = searchParams.get("variable");
          return new Response(name === null ? ${JSON.stringify(text)} : String(process.env[name]));
        },
      });
      console.log("${text} listens at", server.port);
    `,
  };
}

/** An application with its first environment. */
export class TestApplication {
  readonly pilvi: TestPilvi;
  readonly id: string;
  readonly environmentId: string;

  private constructor(pilvi: TestPilvi, id: string, environmentId: string) {
    this.pilvi = pilvi;
    this.id = id;
    this.environmentId = environmentId;
  }

  static async create(pilvi: TestPilvi, name = "Web shop"): Promise<TestApplication> {
    const { body, status } = await pilvi.api<{ data: ApplicationResource }>("POST", "/applications", {
      name,
      region: "eu-central-1",
    });
    if (status !== 201) throw new Error(`no application: ${JSON.stringify(body)}`);
    const [environment] = body.data.relationships.environments.data;
    return new TestApplication(pilvi, body.data.id, environment?.id ?? "");
  }

  /** An application that is there already. */
  static of(pilvi: TestPilvi, id: string, environmentId: string): TestApplication {
    return new TestApplication(pilvi, id, environmentId);
  }

  async environment(): Promise<EnvironmentResource> {
    const { body } = await this.pilvi.api<{ data: EnvironmentResource }>(
      "GET",
      `/environments/${this.environmentId}`,
    );
    return body.data;
  }

  /** Uploads files, and begins the deployment of them. */
  async upload(files: Files): Promise<DeploymentResource> {
    const response = await fetch(`${this.pilvi.url}/api/environments/${this.environmentId}/uploads`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/gzip" },
      body: tarOf(files),
    });
    const { data } = (await response.json()) as { data: DeploymentResource };
    if (response.status !== 201) throw new Error(`no deployment: ${JSON.stringify(data)}`);
    return data;
  }

  /** Uploads files, and waits until their deployment has succeeded. @throws Error with the reason when it fails. */
  async deploy(files: Files, timeoutMs?: number): Promise<DeploymentResource> {
    const deployment = await this.tryToDeploy(files, timeoutMs);
    const { status, failure_reason: reason } = deployment.attributes;
    if (status !== "deployment.succeeded") throw new Error(`the deployment ended as ${status}: ${reason}`);
    return deployment;
  }

  /** Uploads files, and waits for the end of their deployment, which may fail. */
  async tryToDeploy(files: Files, timeoutMs?: number): Promise<DeploymentResource> {
    return await this.ended((await this.upload(files)).id, timeoutMs);
  }

  /** Starts the release of an earlier deployment again, and waits for the end. */
  async rollBack(releaseOf: string): Promise<DeploymentResource> {
    const { body } = await this.pilvi.api<{ data: DeploymentResource }>(
      "POST",
      `/environments/${this.environmentId}/deployments`,
      { release_of: releaseOf },
    );
    return await this.ended(body.data.id);
  }

  async deployment(id: string): Promise<DeploymentResource> {
    const { body } = await this.pilvi.api<{ data: DeploymentResource }>("GET", `/deployments/${id}`);
    return body.data;
  }

  /** The deployment once it has ended. */
  async ended(id: string, timeoutMs?: number): Promise<DeploymentResource> {
    let deployment = await this.deployment(id);
    const hasEnded = async () => {
      deployment = await this.deployment(id);
      return deployment.attributes.finished_at !== null;
    };
    await until(`the deployment ${id} ends`, hasEnded, timeoutMs);
    return deployment;
  }

  /** Asks the edge for a path of the application. */
  async fetch(path = "/", init: RequestInit = {}): Promise<Response> {
    const { attributes } = await this.environment();
    return await fetch(`http://127.0.0.1:${this.pilvi.env.PILVI_EDGE_HTTP}${path}`, {
      ...init,
      headers: { ...init.headers, host: attributes.vanity_domain },
    });
  }

  async text(path = "/"): Promise<string> {
    return await (await this.fetch(path)).text();
  }

  /** Deletes the application, and waits until nothing of it is left. */
  async delete(): Promise<void> {
    await this.pilvi.api("DELETE", `/applications/${this.id}`);
    await until(
      `the application ${this.id} is gone`,
      async () => (await this.pilvi.api("GET", `/applications/${this.id}`)).status === 404,
    );
  }
}

/** A tar with gzip of the files. */
export function tarOf(files: Files): Uint8Array<ArrayBuffer> {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-source-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const packed = Bun.spawnSync(["tar", "-cz", "-C", folder, ...Object.keys(files)]);
    if (!packed.success) throw new Error(packed.stderr.toString());
    return new Uint8Array(packed.stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
