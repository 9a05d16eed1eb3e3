// Which requirements are the same packages each time.
import { expect, test } from "bun:test";
import { isPinned } from "./python-venv.ts";

test.each([
  "Flask==3.0.3\ngunicorn==23.0.0\n",
  "--index-url https://pypi.example.com/simple\nuvicorn[standard] == 0.30.1 ; python_version >= '3.9' # why\n",
  "idna==3.7 \\\n    --hash=sha256:82fee1fc78add492f4a5 \\\n    --hash=sha256:028ff3aadf0609c1fd27\n",
  "Flask==3.0.3 # why\r\ngunicorn==23.0.0\r\n",
])("%j are", (text) => expect(isPinned(text)).toBe(true));

test.each([
  "",
  "# nothing\n",
  "Flask\n",
  "Flask>=3\ngunicorn==23.0.0\n",
  "Flask==3.*\n",
  "-r other.txt\nFlask==3.0.3\n",
  "-e .\n",
  "shop @ git+https://git.example.com/shop.git@main\n",
  "git+https://git.example.com/shop.git\n",
  "./vendor/shop\n",
  "Flask==3.0.3,<4\n",
])("%j are not", (text) => expect(isPinned(text)).toBe(false));
