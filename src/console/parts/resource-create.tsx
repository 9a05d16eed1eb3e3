// The page that creates a resource.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CreateForm, type CreateRequest, CreateRight } from "./create-form.tsx";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { PageFrame } from "./layout.tsx";
import { keepResource } from "./resources.ts";

interface CreateProps extends CreateRequest {
  kind: KindIdentity;
  create: (body: Record<string, unknown>) => Promise<{ data: ConsoleResource }>;
}

export function ResourceCreatePage({ kind, create, ...request }: CreateProps) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const createAndOpen = async (body: Record<string, unknown>) => {
    const { data } = await create(body);
    keepResource(cache, kind, data);
    await navigate({ to: `${kind.path}/${data.id}` });
  };
  return (
    <PageFrame title={`Create ${kind.noun}`} back={{ to: kind.path, label: kind.plural }}>
      <CreateRight kind={kind} noun={kind.noun}>
        <CreateForm {...request} noun={kind.noun} cancelTo={kind.path} create={createAndOpen} />
      </CreateRight>
    </PageFrame>
  );
}
