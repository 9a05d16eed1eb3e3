// Applications for tests of the API: created, uploaded to, and pushed to with git's own client.
import type { ApplicationResource } from "../../../src/resources/applications/schema.ts";
import type { DeploymentResource } from "../../../src/resources/applications/deployments/schema.ts";
import type { EnvironmentResource } from "../../../src/resources/applications/environments/schema.ts";
import { tarOf, type TestEntry } from "../../../src/sources/test-support.ts";
import type { TestApi } from "./api.ts";

/** The runtimes of a host that runs applications. */
export const RUNTIMES = { node: ["22.21.1", "24.11.0"], bun: ["1.4.5"], deno: [], php: [], python: [] };

/** A source that has a plan. */
export const SOURCE: TestEntry[] = [
  { path: "package.json", content: '{"scripts":{"build":"node build.js","start":"node server.js"}}' },
  { path: "package-lock.json", content: "{}" },
  { path: "server.js", content: "" },
];

export interface MadeApplication {
  id: string;
  slug: string;
  environmentId: string;
}

/** Creates an application with its first environment, on the branch `main`. */
export async function newApplication(
  api: TestApi,
  { token, ...body }: { name?: string; repository?: string; token?: string } = {},
): Promise<MadeApplication> {
  const json = { name: "Web shop", region: "eu-central-1", ...body };
  const response = await api.request("/api/applications", { json, ...(token !== undefined && { token }) });
  const { data } = (await response.json()) as { data: ApplicationResource };
  const [environment] = data.relationships.environments.data;
  return { id: data.id, slug: data.attributes.slug, environmentId: environment?.id ?? "" };
}

/** The answer to an upload, or to any other request about a deployment. */
export interface DeploymentAnswer {
  status: number;
  headers: Headers;
  body: { data: DeploymentResource; message?: string; errors?: Record<string, string[]> };
}

/** Sends a tar or anything else as an upload. */
export async function upload(
  api: TestApi,
  address: string,
  body: Uint8Array<ArrayBuffer> | TestEntry[] = SOURCE,
  init: { token?: string; headers?: Record<string, string> } = {},
): Promise<DeploymentAnswer> {
  const response = await api.request(`/api${address}`, {
    method: "POST",
    body: Array.isArray(body) ? tarOf(body) : body,
    ...init,
    headers: { "content-type": "application/x-tar", ...init.headers },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

/** The deployments of an environment, the newest first. */
export async function deploymentsOf(api: TestApi, environmentId: string): Promise<DeploymentResource[]> {
  const response = await api.request(`/api/environments/${environmentId}/deployments`);
  return ((await response.json()) as { data: DeploymentResource[] }).data;
}

/** Changes an environment. */
export async function changeEnvironment(
  api: TestApi,
  id: string,
  json: object,
): Promise<EnvironmentResource> {
  const response = await api.request(`/api/environments/${id}`, { method: "PATCH", json });
  return ((await response.json()) as { data: EnvironmentResource }).data;
}
