// The page that runs a command once in an environment.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { commandText } from "../../../console/parts/command.ts";
import { CreateForm, CreateRight } from "../../../console/parts/create-form.tsx";
import { PageFrame } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import type { NewCommand } from "../../../sdk/index.ts";
import { commandsOf } from "./command-queries.ts";
import { applicationKind } from "./kind.ts";
import { pathOf, useEnvironment } from "./queries.ts";

export default function CommandCreatePage({ params }: PageProps) {
  const { id: applicationId = "", environment: environmentId = "" } = params;
  const ids = { applicationId, environmentId };
  const { data } = useEnvironment(ids);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const back = `${pathOf(ids)}/commands`;
  const runAndOpen = async (body: Record<string, unknown>) => {
    // The API checks the body; the form is made from its schema.
    const made = await commandsOf(ids).create(body as NewCommand);
    await navigate({ to: `${back}/${made.data.id}` });
    void cache.invalidateQueries({ queryKey: ["applications"] });
  };
  return (
    <PageFrame
      title="Run a command"
      back={{ to: back, label: `Commands of ${data?.environment.attributes.name ?? "the environment"}` }}
    >
      <CreateRight kind={applicationKind} noun="command">
        <CreateForm
          path="/environments/{id}/commands"
          id={environmentId}
          noun="command"
          verb="Run the command"
          cancelTo={back}
          hidden={["terminal"]}
          create={runAndOpen}
          commandOf={({ command = "COMMAND" }) =>
            commandText(["run"], { environment: environmentId }, [command])
          }
        />
      </CreateRight>
    </PageFrame>
  );
}
