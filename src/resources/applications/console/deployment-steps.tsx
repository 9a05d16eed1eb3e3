// The steps of a deployment with their output, which grows while a step runs.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { Status } from "../../../console/parts/status.tsx";
import type { DeploymentLog } from "../../../sdk/index.ts";
import { lengthText } from "./deployment-texts.ts";
import { Output } from "./output.tsx";
import { type EnvironmentIds, useDeploymentLog } from "./queries.ts";

type Phase = keyof DeploymentLog["data"];
type Step = DeploymentLog["data"][Phase]["steps"][number];

const PHASES = [
  { phase: "build", title: "Build" },
  { phase: "deploy", title: "Release" },
] as const;

export function DeploymentSteps({
  ids,
  id,
  isWatched,
}: {
  ids: EnvironmentIds;
  id: string;
  isWatched: boolean;
}) {
  const { data, error, refetch } = useDeploymentLog(ids, id, isWatched);
  if (data === undefined)
    return (
      <Section title="Steps">
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
      </Section>
    );
  return PHASES.map(({ phase, title }) => (
    <PhaseSection key={phase} title={title} steps={data.data[phase].steps} isWatched={isWatched} />
  ));
}

function PhaseSection(props: { title: string; steps: Step[]; isWatched: boolean }) {
  const { title, steps, isWatched } = props;
  return (
    <Section title={title}>
      {steps.length === 0 && (
        <p className="m-0 text-soft">{isWatched ? "It has not begun." : "There are no steps of it."}</p>
      )}
      <ol aria-label={`Steps of the ${title.toLowerCase()}`} className="m-0 list-none p-0">
        {steps.map((step, index) => (
          // A step may come twice, and never changes its place.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${step.step} ${index}`} className="border-b border-line">
            <StepLine step={step} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

const LINE =
  "grid min-h-10 w-full grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 px-1 py-1 text-left sm:grid-cols-[1rem_minmax(0,1fr)_6.5rem_6rem]";

/** A step that runs is under way, unlike an environment that runs. */
const WORDS: Partial<Record<Step["status"], string>> = { running: "under way" };

/** A step without output does not open. A step that runs or failed is open until the reader closes it. */
function StepLine({ step }: { step: Step }) {
  const { status, output = "", duration_ms: length } = step;
  const description = step.description.trim().replaceAll("\n", " && ");
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? (status === "running" || status === "failed");
  const texts = (
    <>
      <span className="min-w-0 truncate font-mono text-xs">{description}</span>
      <Status status={WORDS[status] ?? status} />
      <span className="hidden text-right text-sm text-soft sm:block">
        {length === undefined ? "" : lengthText(length)}
      </span>
    </>
  );
  if (output === "")
    return (
      <div className={LINE}>
        <span />
        {texts}
      </div>
    );
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setChosen(!isOpen)}
        className={`${LINE} hover:bg-hover`}
      >
        <ChevronRight size={15} aria-hidden className={isOpen ? "rotate-90" : ""} />
        {texts}
      </button>
      {isOpen && <Output output={output} label={`Output of ${description}`} />}
    </>
  );
}
