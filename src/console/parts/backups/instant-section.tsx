// The restore of an instant: chosen on a line of time, by a shortcut or in words, to a new instance with a name.
import { type FormEvent, useState } from "react";
import { Button } from "../button.tsx";
import { timeZone } from "../charts/times.ts";
import { Choice } from "../choice.tsx";
import { commandText } from "../command.ts";
import { Code } from "../copy.tsx";
import { faultsOf, FormFault } from "../faults.tsx";
import { TextField } from "../field.tsx";
import { Section } from "../layout.tsx";
import { useCan } from "../session.ts";
import type { BackedUpResource, BackupKind, BackupSource } from "./backup-kind.ts";
import { copyName, NameField, SOURCE_STAYS, useCopy } from "./copy-dialog.tsx";
import { HappeningList } from "./happening-list.tsx";
import { useHappenings } from "./happenings.ts";
import { DAY, HOUR, isoOf, type Micros, microsOf, MINUTE, type Stretch } from "./instants.ts";
import { useBackups } from "./queries.ts";
import { TimeLine } from "./time-line.tsx";
import { type ChosenInstant, nowMicros, useInstant } from "./use-instant.ts";

interface InstantProps<Resource extends BackedUpResource> {
  backups: BackupKind<Resource>;
  source: BackupSource;
}

/** Nothing while no instant can be restored. */
export function InstantSection<Resource extends BackedUpResource>(props: InstantProps<Resource>) {
  const { data } = useBackups(props.backups, props.source.id);
  const canWrite = useCan(`${props.backups.kind.name}:write`);
  const window = data?.window ?? null;
  if (window === null || !canWrite) return null;
  const whole = { from: microsOf(window.earliest), until: microsOf(window.latest) };
  return (
    <Section
      title="Restore an instant"
      note={`A new ${props.backups.kind.noun} gets all that was committed up to the instant. ${SOURCE_STAYS}`}
    >
      <InstantForm {...props} whole={whole} />
    </Section>
  );
}

function InstantForm<Resource extends BackedUpResource>(props: InstantProps<Resource> & { whole: Stretch }) {
  const { backups, source, whole } = props;
  const instant = useInstant(whole);
  const { view, at, length, lengths, setLength, choose } = instant;
  const { happenings, isWhole } = useHappenings(backups, source.id, view);
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <Shortcuts whole={whole} onChoose={choose} onLatest={instant.followLatest} />
        {lengths.length > 1 && (
          <Choice
            label="Length of the line"
            options={lengths}
            chosen={length}
            onChoose={(next) => setLength(next, at)}
          />
        )}
      </div>
      <TimeLine {...{ whole, view, at, happenings }} onChoose={choose} />
      <p role="status" className="sr-only">
        {instant.spoken}
      </p>
      <RestoreForm backups={backups} source={source} instant={instant} />
      <HappeningList
        {...{ happenings, isWhole, at }}
        isAll={lengths.length === 1 || length === "all"}
        onChoose={choose}
      />
    </>
  );
}

function RestoreForm<Resource extends BackedUpResource>(
  props: InstantProps<Resource> & { instant: ChosenInstant },
) {
  const { backups, source, instant } = props;
  const { at, fault } = instant;
  const [name, setName] = useState(() => copyName(source.name, "restored"));
  const copy = useCopy(backups);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    copy.mutate(() => backups.restore(source.id, name, { at: isoOf(at) }));
  };
  return (
    <form noValidate onSubmit={submit} className="mt-4 flex flex-col gap-3">
      <FormFault error={copy.error} fields={["name", "restore_time"]} />
      <div className="grid grid-cols-1 items-start gap-3 sm:grid-cols-2">
        <TextField
          label="Instant"
          value={instant.text}
          onChange={instant.write}
          onBlur={instant.endWriting}
          autoComplete="off"
          spellCheck={false}
          faults={fault === undefined ? faultsOf(copy.error, "restore_time") : [fault]}
          note={`A time of ${timeZone}, or words such as “10 minutes ago”.${utcText(at)}`}
        />
        <NameField noun={backups.kind.noun} name={name} onChange={setName} error={copy.error} />
      </div>
      <div>
        <Button
          type="submit"
          look="primary"
          isBusy={copy.isPending}
          disabled={name === "" || fault !== undefined}
        >
          Restore this instant
        </Button>
      </div>
      <Code
        label="command"
        text={commandText([backups.command, "restore", source.name], { name, at: isoOf(at) })}
      />
    </form>
  );
}

/** The instant in UTC, for readers elsewhere. */
function utcText(at: Micros): string {
  return timeZone === "UTC" ? "" : ` In UTC: ${isoOf(at).replace("T", " ").slice(0, 23)}.`;
}

const SHORTCUTS = [
  { label: "1 minute ago", before: MINUTE },
  { label: "10 minutes ago", before: 10 * MINUTE },
  { label: "1 hour ago", before: HOUR },
  { label: "1 day ago", before: DAY },
];

function Shortcuts(props: { whole: Stretch; onChoose: (at: Micros) => void; onLatest: () => void }) {
  const { whole, onChoose, onLatest } = props;
  const now = nowMicros();
  return (
    <div role="group" aria-label="Instants" className="flex flex-wrap gap-1.5">
      <Button onClick={onLatest}>Latest</Button>
      {SHORTCUTS.filter(({ before }) => now - before >= whole.from).map(({ label, before }) => (
        <Button key={label} onClick={() => onChoose(nowMicros() - before)}>
          {label}
        </Button>
      ))}
    </div>
  );
}
