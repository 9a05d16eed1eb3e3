// The button that takes an entry of a list away, such as a database in a cluster.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Confirm } from "./dialog.tsx";

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
