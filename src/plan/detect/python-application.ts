// The application in a folder of Python: its framework, and how it starts.
import { detected, type Sourced } from "../draft.ts";
import { type Folder, PYTHON_MODULES } from "../folder.ts";

/** What a folder of Python is. */
export interface PythonApplication {
  label: string | null;
  start: Sourced<string> | undefined;
  /** Packages that the start command needs. */
  servers: string[];
  /** Sentences about what the developer still has to do. */
  notes: string[];
}

/** Frameworks for applications of ASGI, by the names of their packages. */
const ASGI = ["fastapi", "starlette", "litestar"];

/** A function makes the application, as in `app = create_app()`. */
const MADE =
  /^(app|application|api)\s*(?::[^=\n]{1,100})?=\s*(?:\w{1,60}\.){0,3}(?:create|make|build|get|init)\w{0,60}\(/m;

const COLLECT = "python manage.py collectstatic --noinput";

/**
 * The application of a folder.
 * @param dependencies the names of its packages in lower case.
 * @param commands all commands that other origins name.
 */
export function pythonApplicationOf(
  folder: Folder,
  dependencies: ReadonlySet<string>,
  commands: readonly string[],
): PythonApplication {
  const [settings] = folder.matching(/^(?:[A-Za-z_]\w{0,60}\/){1,2}wsgi\.py$/);
  if (folder.has("manage.py") && settings !== undefined) {
    const start = `gunicorn --bind 127.0.0.1:$PORT ${moduleOf(settings)}`;
    return { ...withServer("Django", start, "gunicorn"), notes: staticNotes(dependencies, commands) };
  }
  for (const file of PYTHON_MODULES) {
    const found = applicationIn(file, folder.text(file) ?? "", dependencies);
    if (found !== null) return found;
  }
  const program = folder.firstOf("main.py", "app.py", "server.py");
  if (program !== undefined)
    return {
      label: null,
      start: { value: `python ${program}`, origin: detected(program) },
      servers: [],
      notes: [],
    };
  for (const [file, code] of folder.pythonPackages) {
    if (!isAsgi(code, dependencies) && !isFlask(code, dependencies)) continue;
    const found = applicationIn(file, code, dependencies);
    if (found !== null) return found;
  }
  return { label: null, start: undefined, servers: [], notes: [] };
}

function applicationIn(
  file: string,
  code: string,
  dependencies: ReadonlySet<string>,
): PythonApplication | null {
  const module = moduleOf(file);
  const fast = /^(\w{1,60})\s*(?::[^=\n]{1,100})?=\s*(?:FastAPI|Starlette|Litestar)\(/m.exec(code)?.[1];
  if (fast !== undefined) return onUvicorn(`${module}:${fast}`, dependencies);
  const flask = /^(\w{1,60})\s*(?::[^=\n]{1,100})?=\s*Flask\(/m.exec(code)?.[1];
  if (flask !== undefined) return onGunicorn(`${module}:${flask}`);
  // A program that knows the port of its own serves by itself.
  const made = /\bPORT\b/.test(code) ? undefined : MADE.exec(code)?.[1];
  const isForUvicorn = isAsgi(code, dependencies);
  if (made !== undefined && isForUvicorn) return onUvicorn(`${module}:${made}`, dependencies);
  if (made !== undefined && isFlask(code, dependencies)) return onGunicorn(`${module}:${made}`);
  if (!/^def create_app\(/m.test(code)) return null;
  return isForUvicorn
    ? onUvicorn(`--factory ${module}:create_app`, dependencies)
    : onGunicorn(`${module}:'create_app()'`);
}

function isAsgi(code: string, dependencies: ReadonlySet<string>): boolean {
  if (/^[ \t]*(?:from|import)[ \t]+(?:fastapi|starlette|litestar)\b/m.test(code)) return true;
  return ASGI.some((name) => dependencies.has(name)) && !isFlask(code, dependencies);
}

function isFlask(code: string, dependencies: ReadonlySet<string>): boolean {
  return dependencies.has("flask") || /^[ \t]*(?:from|import)[ \t]+flask\b/m.test(code);
}

function onUvicorn(application: string, dependencies: ReadonlySet<string>): PythonApplication {
  const label = dependencies.has("fastapi") ? "FastAPI" : "ASGI";
  return withServer(label, `uvicorn --host 127.0.0.1 --port $PORT ${application}`, "uvicorn");
}

function onGunicorn(application: string): PythonApplication {
  return withServer("Flask", `gunicorn --bind 127.0.0.1:$PORT ${application}`, "gunicorn");
}

function withServer(label: string, start: string, server: string): PythonApplication {
  return { label, start: { value: start, origin: detected(label) }, servers: [server], notes: [] };
}

/** Django serves static files to developers alone. The build does not collect them by itself: settings may need secrets. */
function staticNotes(dependencies: ReadonlySet<string>, commands: readonly string[]): string[] {
  if (commands.some((command) => command.includes("collectstatic"))) return [];
  return [
    dependencies.has("whitenoise")
      ? `The build does not collect the static files of Django; set STATIC_ROOT, and build_command to ${COLLECT}.`
      : `Django serves no static files in production, such as those of its admin; install whitenoise, add it to MIDDLEWARE, set STATIC_ROOT, and set build_command to ${COLLECT}.`,
  ];
}

function moduleOf(file: string): string {
  return file.replace(/(?:\/__init__)?\.py$/, "").replaceAll("/", ".");
}
