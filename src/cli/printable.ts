// Makes text safe for a terminal, which obeys control characters: other people choose names.

/**
 * Control characters except tabs and the ends of lines, and characters that turn the direction of the text after them.
 */
const OBEYED = /[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * The text with an escape in the place of each character that a terminal would obey. Within JSON it means the same as
 * before.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return String.raw`\u${code}`;
  });
}
