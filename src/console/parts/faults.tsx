// What the API said against a form: sentences for its fields, and the rest above them.
import { useEffect, useRef } from "react";
import { PilviError } from "../../sdk/index.ts";

/** The sentences about a field, by the name that the API gives it, such as `config.cu_min`. */
export function faultsOf(error: unknown, field: string): readonly string[] | undefined {
  const sentences = error instanceof PilviError ? error.errors?.[field] : undefined;
  return sentences?.map((sentence) => atField(sentence, field));
}

/** At its field, a sentence needs no path of the API, such as `variables.0.key`. */
function atField(sentence: string, name: string): string {
  return name.includes(".") ? sentence.replace(`The field ${name} `, "This field ") : sentence;
}

/** The sentences about a field and about everything within it, such as an entry of a list. */
export function faultsWithin(error: unknown, field: string): readonly string[] {
  const errors = error instanceof PilviError ? (error.errors ?? {}) : {};
  const within = Object.entries(errors).filter(([name]) => isWithin(name, field));
  return within.flatMap(([name, sentences]) => sentences.map((sentence) => atField(sentence, name)));
}

/** An error that belongs to no field; errors of fields stand at them. @param fields the fields that the form shows. */
export function FormFault({ error, fields }: { error: unknown; fields?: readonly string[] }) {
  if (error === null || error === undefined) return null;
  const errors = error instanceof PilviError ? error.errors : undefined;
  const elsewhere = Object.entries(errors ?? {}).filter(
    ([name]) => fields?.some((field) => isWithin(name, field)) === false,
  );
  if (errors !== undefined && elsewhere.length === 0) return null;
  const text = error instanceof Error ? error.message : String(error);
  return (
    <p role="alert" className="m-0 rounded-md border border-bad bg-bad-tint px-3 py-2 text-sm">
      {elsewhere.length === 0 ? text : elsewhere.flatMap(([, texts]) => texts).join(" ")}
    </p>
  );
}

/** Whether the name of an error is that of the field, or of something in it. */
function isWithin(name: string, field: string): boolean {
  return name === field || name.startsWith(`${field}.`);
}

/** For a long form: brings the first fault of an answer into sight, and the keyboard to its field. */
export function useFaultInSight(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error === null || error === undefined) return;
    const first = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
    first?.scrollIntoView({ block: "center" });
    first?.focus({ preventScroll: true });
  }, [error]);
  return form;
}
