// Texts cut to a size, never within a character.

/** The longest start of a well-formed text that takes at most so many bytes in UTF-8. */
export function cutAtBytes(text: string, maxBytes: number): string {
  // The encoder writes whole code points only, and says how far it came.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** The first so many characters (code points) of a text. */
export function cutAtChars(text: string, maxChars: number): string {
  return [...text].slice(0, maxChars).join('');
}
