// The dialog that gives a name to a copy of an instance, begins the copy, and leads to its page.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "../button.tsx";
import { Modal } from "../dialog.tsx";
import { faultsOf, FormFault } from "../faults.tsx";
import { TextField } from "../field.tsx";
import { keepResource } from "../resources.ts";
import type { BackedUpResource, BackupKind } from "./backup-kind.ts";

/** Begins a restore or a clone, and opens the page of the new resource. */
export function useCopy<Resource extends BackedUpResource>({ kind }: BackupKind<Resource>) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (begin: () => Promise<{ data: Resource }>) => begin(),
    meta: { showsErrors: true },
    onSuccess: async ({ data }) => {
      keepResource(cache, kind, data);
      await navigate({ to: `${kind.path}/${data.id}` });
    },
  });
}

/** The name of a copy, as far as names may be long. @param ending such as `restored`. */
export function copyName(name: string, ending: string): string {
  return `${name.slice(0, MAX_NAME - ending.length - 1).replace(/-+$/, "")}-${ending}`;
}

/** What every copy leaves alone, as a sentence. */
export const SOURCE_STAYS = "Its source is only read.";

/** The shortest bound that the API has for names. */
const MAX_NAME = 40;

/** The field for the name of a copy. @param props.error of the latest attempt, whose faults of the name are shown. */
export function NameField(props: {
  noun: string;
  name: string;
  onChange: (name: string) => void;
  error: unknown;
}) {
  const { noun, name, onChange, error } = props;
  return (
    <TextField
      label={`Name of the new ${noun}`}
      value={name}
      onChange={onChange}
      autoComplete="off"
      spellCheck={false}
      faults={faultsOf(error, "name")}
    />
  );
}

/** A button with the dialog. */
export function CopyButton<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  label: string;
  /** Names what is copied for screen readers, where several buttons have the same label. */
  of?: string;
  title: string;
  text: ReactNode;
  firstName: string;
  isDisabled?: boolean;
  begin: (name: string) => Promise<{ data: Resource }>;
}) {
  const { backups, label, of, title, text, firstName, isDisabled = false, begin } = props;
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(firstName);
  const copy = useCopy(backups);
  return (
    <>
      <Button
        disabled={isDisabled}
        {...(of !== undefined && { "aria-label": `${label} ${of}` })}
        onClick={() => {
          setName(firstName);
          copy.reset();
          setOpen(true);
        }}
      >
        {label}
      </Button>
      <Modal title={title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <form
          noValidate
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            // The page may stay, such as that of another resource of the kind.
            copy.mutate(() => begin(name), { onSuccess: () => setOpen(false) });
          }}
        >
          <p className="m-0 text-soft">{text}</p>
          <FormFault error={copy.error} fields={["name"]} />
          <NameField noun={backups.kind.noun} name={name} onChange={setName} error={copy.error} />
          <div className="mt-1 flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="primary" isBusy={copy.isPending} disabled={name === ""}>
              {label}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}

/** Makes a new instance with the data of an instance as it is now. */
export function CloneButton<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  resource: Resource;
}) {
  const { backups, resource } = props;
  const { name, status } = resource.attributes;
  return (
    <CopyButton
      backups={backups}
      label="Clone"
      title={`Clone ${name}`}
      text={`The new ${backups.kind.noun} has the data of now, and its own address and password. ${SOURCE_STAYS} A source that sleeps sleeps on.`}
      firstName={copyName(name, "clone")}
      isDisabled={status !== "available"}
      begin={(given) => backups.clone(resource.id, given)}
    />
  );
}
