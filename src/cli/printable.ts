// What may reach a terminal: strangers choose names, and a terminal obeys control characters.

/** Control characters but the ends of lines and tabs, and those that turn the direction of what follows. */
const OBEYED = /[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text with an escape in the place of each character that a terminal would obey. Within JSON it means the same as before. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return String.raw`\u${code}`;
  });
}
