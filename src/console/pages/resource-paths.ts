// The addresses of resources in the console.
import type { EventResource } from "../../sdk/index.ts";
import { kinds } from "../kinds.ts";

/** The page of the resource that an event is about; undefined when it is gone or has no page. */
export function pathOfEvent({ attributes, relationships }: EventResource): string | undefined {
  const { type, id } = relationships.resource.data;
  if (attributes.type === "deleted" || attributes.type === "deleting") return undefined;
  const kind = kinds.find(({ resourceType }) => resourceType === type);
  return kind && `${kind.path}/${id}`;
}
