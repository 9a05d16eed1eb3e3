// A page with a form that adds something to an environment, and leads back to its page.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CreateForm, type CreateRequest, CreateRight } from "../../../console/parts/create-form.tsx";
import { PageFrame } from "../../../console/parts/layout.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import { applicationKind } from "./kind.ts";
import { type EnvironmentIds, pathOf, useEnvironment } from "./queries.ts";

interface FormProps extends CreateRequest {
  ids: EnvironmentIds;
  /** What stands for `{id}` in the path. */
  id: string;
  noun: string;
  create: (body: Record<string, unknown>) => Promise<unknown>;
}

export function EnvironmentForm({ ids, noun, create, ...request }: FormProps) {
  const { data } = useEnvironment(ids);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const to = pathOf(ids);
  const createAndReturn = async (body: Record<string, unknown>) => {
    await create(body);
    await cache.invalidateQueries({ queryKey: ["applications"] });
    await navigate({ to });
    notify({ title: `The ${noun} is added.` });
  };
  return (
    <PageFrame
      title={`Create ${noun}`}
      back={{ to, label: data?.environment.attributes.name ?? "Environment" }}
    >
      <CreateRight kind={applicationKind} noun={noun}>
        <CreateForm {...request} noun={noun} cancelTo={to} create={createAndReturn} />
      </CreateRight>
    </PageFrame>
  );
}
