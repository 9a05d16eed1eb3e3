// Dialogs: a question over the page that holds the keyboard until it is answered.
import { Dialog } from "@base-ui/react/dialog";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";

interface ModalProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function Modal({ title, isOpen, onClose, children }: ModalProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil" />
        <Dialog.Popup className="fixed top-[12vh] left-1/2 z-40 max-h-[80vh] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 overflow-y-auto rounded-lg border border-line bg-panel p-5 shadow-pop">
          <Dialog.Title className="mt-0 mb-3 text-lg font-semibold">{title}</Dialog.Title>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Asks before something that cannot be taken back; with `name`, the name has to be typed. */
export function Confirm(props: {
  title: string;
  text: string;
  verb: string;
  name?: string | undefined;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => Promise<void>;
}) {
  const { title, text, verb, name, isOpen, onClose, onConfirm } = props;
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    setTyped("");
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      close();
    } catch {
      // A message says why; the question stays.
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal title={title} isOpen={isOpen} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <p className="mt-0 mb-4 text-soft">{text}</p>
        {name !== undefined && (
          <TextField
            label={`Type ${name} to confirm`}
            value={typed}
            onChange={setTyped}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="danger" isBusy={isBusy} disabled={name !== undefined && typed !== name}>
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
