/** A text of somebody else's, on a terminal: its control characters are shown, never obeyed. */

/** A terminal obeys these; tabs and line ends do no harm. */
const OBEYED =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/gu

export function forTerminal(text: string): { shown: string; isExact: boolean } {
  const shown = text.replace(OBEYED, symbolOf)
  return { shown, isExact: shown === text }
}

function symbolOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : `<${code.toString(16).padStart(4, '0')}>`
}
