// Short messages that come and go at the edge of the page.
import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { PilviError } from "../../sdk/index.ts";

const manager = Toast.createToastManager();
const SHOWN_MS = 6_000;

/** Shows a message; an error stays until it is closed. */
export function notify({
  title,
  text,
  isError = false,
}: {
  title: string;
  text?: string;
  isError?: boolean;
}) {
  manager.add({
    title,
    ...(text !== undefined && { description: text }),
    type: isError ? "error" : "notice",
    timeout: isError ? 0 : SHOWN_MS,
    priority: isError ? "high" : "low",
  });
}

/** Shows why an action failed. */
export function notifyError(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  const id = error instanceof PilviError ? error.requestId : undefined;
  notify({ title: text, ...(id !== undefined && { text: `Request ${id}` }), isError: true });
}

/** The place of all messages. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className={`flex items-start gap-2 rounded-lg border bg-panel p-3 shadow-pop ${toast.type === "error" ? "border-bad" : "border-line"}`}
    >
      <div className="min-w-0 grow">
        <Toast.Title className="m-0 text-base font-medium break-words" />
        <Toast.Description className="m-0 font-mono text-xs break-all text-soft" />
      </div>
      <Toast.Close
        aria-label="Close"
        className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-soft hover:bg-hover"
      >
        <X size={14} />
      </Toast.Close>
    </Toast.Root>
  ));
}
