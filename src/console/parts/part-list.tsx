// Parts of a resource that have names, such as the databases in a cluster: made by a name, and deleted one by one.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Confirm } from "./dialog.tsx";
import { faultsOf, FormFault } from "./faults.tsx";
import { TextField } from "./field.tsx";

/** A form of one field that adds a part. @param queryKey read again after that. */
export function AddPart(props: {
  noun: string;
  queryKey: readonly string[];
  add: (name: string) => Promise<unknown>;
}) {
  const { noun, queryKey, add } = props;
  const [name, setName] = useState("");
  const cache = useQueryClient();
  const adding = useMutation({
    mutationFn: () => add(name),
    meta: { showsErrors: true },
    onSuccess: async () => {
      setName("");
      await cache.invalidateQueries({ queryKey });
    },
  });
  return (
    <form
      noValidate
      className="mt-3 flex max-w-md items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        adding.mutate();
      }}
    >
      <div className="grow">
        <FormFault error={adding.error} fields={["name"]} />
        <TextField
          label={`Name of a new ${noun}`}
          value={name}
          onChange={setName}
          autoComplete="off"
          faults={faultsOf(adding.error, "name")}
        />
      </div>
      <Button type="submit" isBusy={adding.isPending} disabled={name === ""}>
        Add
      </Button>
    </form>
  );
}

/**
 * A button that takes a part away after a question; with `name`, the name has to be typed.
 * @param queryKey read again after that.
 */
export function RemoveButton(props: {
  label: string;
  verb: string;
  question: string;
  name?: string;
  queryKey: readonly string[];
  remove: () => Promise<unknown>;
}) {
  const { label, verb, question, name, queryKey, remove } = props;
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: async () => await cache.invalidateQueries({ queryKey }),
  });
  return (
    <>
      <Button look="ghost" aria-label={`${verb} ${label}`} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Confirm
        title={`${verb} ${label}?`}
        text={question}
        verb={verb}
        name={name}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => void (await removal.mutateAsync())}
      />
    </>
  );
}
