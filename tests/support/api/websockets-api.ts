// WebSocket clusters and applications for tests of the API.
import type {
  ApplicationResource,
  WebSocketClusterResource,
} from "../../../src/resources/websockets/schema.ts";
import { validServer, type TestApi } from "./api.ts";

export const SERVERS = "/api/websocket-servers";
export const APPLICATIONS = "/api/websocket-applications";

/** An answer about a resource, or an error. */
export interface Answer<Resource, Included = unknown> {
  data: Resource;
  included?: Included[];
  message?: string;
  errors?: Record<string, string[]>;
}

export type ServerAnswer = Answer<WebSocketClusterResource, ApplicationResource>;
export type ApplicationAnswer = Answer<ApplicationResource, WebSocketClusterResource>;

type Init = Parameters<TestApi["request"]>[1];

/** A client that reads answers as the expected type; an answer without a body is an empty object. */
export function asker(api: () => TestApi) {
  return async function ask<Body>(address: string, init: Init = {}) {
    const response = await api().request(address, init);
    const text = await response.text();
    const body = (text === "" ? {} : JSON.parse(text)) as Body;
    return { status: response.status, headers: response.headers, body };
  };
}

/** Creates a cluster and returns its ids. */
export async function newWebSocketCluster(api: TestApi, attributes: object = {}) {
  const response = await api.request(SERVERS, { json: { ...validServer, ...attributes } });
  const { data, included } = (await response.json()) as ServerAnswer;
  const [application] = included ?? [];
  if (application === undefined) throw new Error("a cluster has an application");
  return { id: data.id, server: data, application };
}
