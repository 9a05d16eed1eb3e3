// The page that creates a part of a resource, such as a database in a cluster.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CreateForm, type CreateRequest, CreateRight } from "./create-form.tsx";
import type { KindIdentity } from "./kind.ts";
import { Failure, PageFrame } from "./layout.tsx";
import { useResource } from "./resources.ts";
import { notify } from "./toasts.tsx";

interface PartProps extends CreateRequest {
  /** The kind of the resource that gets the part, and its id. */
  kind: KindIdentity;
  id: string;
  noun: string;
  /** Read again after that. */
  queryKey: readonly string[];
  create: (body: Record<string, unknown>) => Promise<{ data: { attributes: { name: string } } }>;
}

export function PartCreatePage({ kind, id, noun, queryKey, create, ...request }: PartProps) {
  const { data: resource, error, refetch } = useResource(kind, id);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const to = `${kind.path}/${id}`;
  const createAndReturn = async (body: Record<string, unknown>) => {
    const { data } = await create(body);
    await cache.invalidateQueries({ queryKey });
    await navigate({ to });
    notify({ title: `${data.attributes.name} is being created.` });
  };
  const label = resource?.attributes.name ?? `The ${kind.noun}`;
  return (
    <PageFrame title={`Create ${noun}`} back={{ to, label }}>
      <CreateRight kind={kind} noun={noun}>
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <CreateForm {...request} {...{ id, noun }} cancelTo={to} create={createAndReturn} />
        )}
      </CreateRight>
    </PageFrame>
  );
}
