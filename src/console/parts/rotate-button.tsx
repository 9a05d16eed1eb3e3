// The button for new credentials, with the choice of how long the present credentials stay valid.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "./button.tsx";
import { Modal } from "./dialog.tsx";
import { SelectField } from "./field.tsx";
import { notify } from "./toasts.tsx";

/** Time for programs that run to get the new credentials. */
const USUAL_GRACE = "3600";

const GRACES = [
  { value: "0", label: "Refused at once" },
  { value: USUAL_GRACE, label: "Valid for another hour" },
  { value: "86400", label: "Valid for another day" },
  { value: "604800", label: "Valid for another week" },
];

export function RotateButton(props: {
  noun: "password" | "secret";
  /** Rotates, and brings what the page shows up to date. */
  rotate: (graceSeconds: number) => Promise<void>;
  /** What happens to clients when the present credentials are refused at once. */
  atOnce: string;
}) {
  const { noun, rotate, atOnce } = props;
  const [isOpen, setOpen] = useState(false);
  const [grace, setGrace] = useState(USUAL_GRACE);
  const rotation = useMutation({
    mutationFn: () => rotate(Number(grace)),
    onSuccess: () => {
      notify({ title: `The new ${noun} is on its way.` });
      setOpen(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotation.mutate();
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>New {noun}</Button>
      <Modal title={`Make a new ${noun}?`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={submit}>
          <SelectField
            label={`The present ${noun} is`}
            value={grace}
            options={GRACES}
            onChange={setGrace}
            note={grace === "0" ? atOnce : `Both ${noun}s work meanwhile, and connections stay open.`}
          />
          <div className="mt-5 flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="danger" isBusy={rotation.isPending}>
              New {noun}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
