// The frame of the pages without a session: one form in the middle.
import { type ReactNode, useEffect } from "react";

export function PublicFrame({
  title,
  note,
  children,
}: {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Pilvi`;
  }, [title]);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center px-4 py-12">
      <p className="mt-0 mb-6 text-xl font-bold tracking-tight">
        pilvi<span className="text-accent">.</span>
      </p>
      <h1 className="m-0 text-xl font-semibold tracking-tight">{title}</h1>
      {note && <p className="mt-1.5 mb-0 text-soft">{note}</p>}
      <div className="mt-6">{children}</div>
    </main>
  );
}
