// The dialog that adds a variable, or gives a variable another value.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Modal } from "../../../console/parts/dialog.tsx";
import { faultsOf, faultsWithin, FormFault } from "../../../console/parts/faults.tsx";
import { TextAreaField, TextField } from "../../../console/parts/field.tsx";
import { notify } from "../../../console/parts/toasts.tsx";
import type { EnvironmentVariable } from "../../../sdk/index.ts";
import { type EnvironmentIds, environmentsOf, useKeepEnvironment } from "./queries.ts";

interface DialogProps {
  ids: EnvironmentIds;
  /** All variables of the environment. */
  present: readonly EnvironmentVariable[];
  /** The variable to change; a new one when left out. */
  variable?: EnvironmentVariable;
}

export function VariableDialog(props: DialogProps) {
  const { variable } = props;
  const [isOpen, setOpen] = useState(false);
  const title = variable === undefined ? "Add variable" : `Change ${variable.key}`;
  const close = () => setOpen(false);
  return (
    <>
      {variable === undefined ? (
        <Button onClick={() => setOpen(true)}>Add variable</Button>
      ) : (
        <Button look="ghost" aria-label={title} onClick={() => setOpen(true)}>
          Change
        </Button>
      )}
      <Modal title={title} isOpen={isOpen} onClose={close}>
        <VariableForm {...props} onClose={close} />
      </Modal>
    </>
  );
}

function VariableForm({ ids, present, variable, onClose }: DialogProps & { onClose: () => void }) {
  const [key, setKey] = useState(variable?.key ?? "");
  const [value, setValue] = useState(variable?.value ?? "");
  const saving = useSetVariables(ids, onClose);
  const isTaken = variable === undefined && present.some((each) => each.key === key);
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate([{ key, value }]);
      }}
    >
      <FormFault error={saving.error} fields={["variables"]} />
      <VariablesFault error={saving.error} />
      {variable === undefined && (
        <TextField
          label="Name"
          value={key}
          onChange={setKey}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
          note={isTaken && `${key} exists: it gets this value.`}
          faults={faultsWithin(saving.error, "variables.0.key")}
        />
      )}
      <TextAreaField
        label="Value"
        value={value}
        onChange={setValue}
        rows={3}
        autoComplete="off"
        spellCheck={false}
        faults={faultsWithin(saving.error, "variables.0.value")}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={saving.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** What is wrong with all variables together, such as their number. */
function VariablesFault({ error }: { error: unknown }) {
  const faults = faultsOf(error, "variables") ?? [];
  if (faults.length === 0) return null;
  return (
    <p role="alert" className="m-0 text-sm text-bad">
      {faults.join(" ")}
    </p>
  );
}

/** Adds variables, and gives variables that exist these values. */
export function useSetVariables({ applicationId, environmentId }: EnvironmentIds, onDone: () => void) {
  const keep = useKeepEnvironment();
  return useMutation({
    mutationFn: (variables: EnvironmentVariable[]) =>
      environmentsOf(applicationId).setVariables(environmentId, { method: "set", variables }),
    meta: { showsErrors: true },
    onSuccess: ({ data }, variables) => {
      keep(data);
      const [first] = variables;
      notify({
        title:
          variables.length === 1 ? `${first?.key} is saved.` : `${variables.length} variables are saved.`,
      });
      onDone();
    },
  });
}
