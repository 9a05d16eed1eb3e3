// The dialog that takes a whole .env file: what it adds and what it changes is said before it is saved.
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Modal } from "../../../console/parts/dialog.tsx";
import { FormFault } from "../../../console/parts/faults.tsx";
import { TextAreaField } from "../../../console/parts/field.tsx";
import { type EnvironmentVariable, PilviError } from "../../../sdk/index.ts";
import { parseDotenv } from "./dotenv.ts";
import type { EnvironmentIds } from "./queries.ts";
import { useSetVariables } from "./variable-dialog.tsx";

interface PasteProps {
  ids: EnvironmentIds;
  /** All variables of the environment. */
  present: readonly EnvironmentVariable[];
}

export function PasteDialog(props: PasteProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Paste a .env file</Button>
      <Modal title="Paste a .env file" isOpen={isOpen} onClose={close}>
        <PasteForm {...props} onClose={close} />
      </Modal>
    </>
  );
}

function PasteForm({ ids, present, onClose }: PasteProps & { onClose: () => void }) {
  const [text, setText] = useState("");
  const saving = useSetVariables(ids, onClose);
  const { variables, faultyLines } = parseDotenv(text);
  const changes = changesIn(variables, present);
  const changed = [...changes.added, ...changes.changed];
  const faults = [...lineFaults(faultyLines), ...apiFaults(saving.error, changed)];
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(changed);
      }}
    >
      <FormFault error={saving.error} fields={["variables"]} />
      <TextAreaField
        label="Content of the file"
        note="Variables that are not in the file stay as they are."
        placeholder={'NAME=value\nOTHER="value with blanks"'}
        value={text}
        onChange={setText}
        rows={10}
        autoComplete="off"
        spellCheck={false}
        faults={faults}
      />
      <p role="status" className="m-0 text-sm break-words text-soft">
        {text.trim() !== "" && summaryOf(changes, variables.length)}
      </p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          disabled={changed.length === 0 || faultyLines.length > 0}
          isBusy={saving.isPending}
        >
          Save
        </Button>
      </div>
    </form>
  );
}

interface Changes {
  added: EnvironmentVariable[];
  changed: EnvironmentVariable[];
}

function changesIn(
  variables: readonly EnvironmentVariable[],
  present: readonly EnvironmentVariable[],
): Changes {
  const values = new Map(present.map(({ key, value }) => [key, value]));
  return {
    added: variables.filter(({ key }) => !values.has(key)),
    changed: variables.filter(({ key, value }) => values.has(key) && values.get(key) !== value),
  };
}

/** Such as `Adds A and B, changes C, leaves 2 as they are.` */
function summaryOf({ added, changed }: Changes, total: number): string {
  const same = total - added.length - changed.length;
  const parts = [
    ...(added.length > 0 ? [`adds ${namesOf(added)}`] : []),
    ...(changed.length > 0 ? [`changes ${namesOf(changed)}`] : []),
    ...(same > 0 ? [`leaves ${same} as ${same === 1 ? "it is" : "they are"}`] : []),
  ];
  const text = parts.join(", ");
  return text === "" ? "Nothing in it is a variable." : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const names = new Intl.ListFormat("en", { type: "conjunction" });

function namesOf(variables: readonly EnvironmentVariable[]): string {
  return names.format(variables.map(({ key }) => key));
}

function lineFaults(lines: readonly number[]): string[] {
  if (lines.length === 0) return [];
  return [
    `${lines.length === 1 ? "Line" : "Lines"} ${lines.join(", ")}: a line is NAME=value, or a comment.`,
  ];
}

/** The API names variables by their place in the request; readers know their names. */
function apiFaults(error: unknown, sent: readonly EnvironmentVariable[]): string[] {
  const errors = error instanceof PilviError ? (error.errors ?? {}) : {};
  return Object.entries(errors).flatMap(([field, sentences]) => {
    const [, at] = /^variables\.(\d+)/.exec(field) ?? [];
    const key = at === undefined ? undefined : sent[Number(at)]?.key;
    return sentences.map((sentence) => (key === undefined ? sentence : `${key}: ${sentence}`));
  });
}
