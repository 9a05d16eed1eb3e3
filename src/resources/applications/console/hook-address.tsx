// The address of an environment's deploy hook, which is a credential: hidden until it is asked for.
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../../../console/parts/button.tsx";
import { CopyButton } from "../../../console/parts/copy.tsx";

const MASK = "••••••••";

/** @param path below this Pilvi, such as `/api/deploy-hooks/SECRET`. */
export function HookAddress({ path }: { path: string }) {
  const [isShown, setShown] = useState(false);
  const secret = path.split("/").at(-1) ?? "";
  const address = `${location.origin}${path}`;
  const Icon = isShown ? EyeOff : Eye;
  return (
    <span className="flex min-w-0 items-start gap-1">
      <code className="min-w-0 py-1.5 font-mono text-xs break-all">
        {isShown ? address : address.replace(secret, MASK)}
      </code>
      <IconButton
        label={isShown ? "Hide the address of the deploy hook" : "Show the address of the deploy hook"}
        onClick={() => setShown(!isShown)}
      >
        <Icon size={15} aria-hidden />
      </IconButton>
      <CopyButton text={address} label="address of the deploy hook" />
    </span>
  );
}
