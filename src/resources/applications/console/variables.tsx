// The page of the variables of an environment: hidden until they are asked for, added, changed, deleted and pasted.
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { CopyButton } from "../../../console/parts/copy.tsx";
import { Empty, Section } from "../../../console/parts/layout.tsx";
import { countText, ListCount, ListFilters, NothingFits } from "../../../console/parts/list-filters.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { RemoveButton } from "../../../console/parts/remove-button.tsx";
import { useCan } from "../../../console/parts/session.ts";
import type { EnvironmentVariable } from "../../../sdk/index.ts";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { type EnvironmentIds, environmentsOf } from "./queries.ts";
import { PasteDialog } from "./variable-paste.tsx";
import { VariableDialog } from "./variable-dialog.tsx";
import type { VariablesSearch } from "./variables-search.ts";

const MASK = "••••••••";
/** Fewer are found without a search. */
const MIN_SEARCHED = 8;

type VariablesProps = Pick<PageProps<VariablesSearch>, "search" | "setSearch"> & {
  ids: EnvironmentIds;
  variables: readonly EnvironmentVariable[];
};

export default function VariablesPage({ params, search, setSearch }: PageProps<VariablesSearch>) {
  return (
    <EnvironmentFrame params={params}>
      {({ environment: { attributes }, ids }) =>
        attributes.environment_variables === undefined ? (
          <Empty
            title="Your role does not show variables"
            text="An owner or an admin of the organization can change your role on the page Members."
          />
        ) : (
          <Variables ids={ids} variables={attributes.environment_variables} {...{ search, setSearch }} />
        )
      }
    </EnvironmentFrame>
  );
}

function Variables({ ids, variables, search, setSearch }: VariablesProps) {
  const canWrite = useCan("applications:write");
  const [isShown, setShown] = useState(false);
  const text = search.q?.toLowerCase();
  const shown = variables.filter(({ key }) => text === undefined || key.toLowerCase().includes(text));
  const Icon = isShown ? EyeOff : Eye;
  return (
    <Section
      title="Variables"
      note="A changed variable is in force after a restart, which comes by itself. A build gets only those whose names say that browsers may see them, such as VITE_ and NEXT_PUBLIC_, and those that the environment names for builds. What it makes keeps them until the next deployment."
      actions={
        <>
          {variables.length > 0 && (
            <Button look="ghost" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              <Icon size={15} aria-hidden />
              {isShown ? "Hide the values" : "Show the values"}
            </Button>
          )}
          {canWrite && <PasteDialog ids={ids} present={variables} />}
          {canWrite && <VariableDialog ids={ids} present={variables} />}
        </>
      }
    >
      {variables.length === 0 && <p className="m-0 text-soft">The environment has no variables.</p>}
      {(variables.length >= MIN_SEARCHED || text !== undefined) && (
        <>
          <ListFilters label="Search by name" {...{ search, setSearch }} />
          <ListCount text={countText(shown.length, variables.length)} />
        </>
      )}
      {variables.length > 0 && shown.length === 0 && <NothingFits />}
      <ul aria-label="Variables" className="m-0 list-none p-0">
        {shown.map((variable, index) => (
          // A name may come twice.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${variable.key} ${index}`} className="border-b border-line">
            <VariableLine {...{ ids, variable, variables, isShown, canWrite }} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function VariableLine(props: {
  ids: EnvironmentIds;
  variable: EnvironmentVariable;
  variables: readonly EnvironmentVariable[];
  isShown: boolean;
  canWrite: boolean;
}) {
  const { ids, variable, variables, isShown, canWrite } = props;
  const { key, value } = variable;
  return (
    <div className="grid min-h-11 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 py-1 md:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)_auto]">
      <span className="font-mono text-sm break-all">{key}</span>
      <span className="order-last col-span-2 font-mono text-sm break-all whitespace-pre-wrap text-soft md:order-none md:col-span-1">
        {isShown ? value : MASK}
      </span>
      <span className="flex items-center">
        <CopyButton text={value} label={`value of ${key}`} />
        {canWrite && (
          <>
            <VariableDialog ids={ids} present={variables} variable={variable} />
            <RemoveButton
              label={key}
              verb="Delete"
              question="The application does without it after its next restart."
              queryKey={["applications"]}
              remove={() =>
                environmentsOf(ids.applicationId).deleteVariables(ids.environmentId, { keys: [key] })
              }
            />
          </>
        )}
      </span>
    </div>
  );
}
